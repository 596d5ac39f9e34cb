//! The parts that all types share: scalars, the interfaces of objects with an id or an address, pages.

pub(super) const DESCRIPTION: &str = r"
scalar BigInt
scalar DateTime
scalar GitObjectID
scalar GitSSHRemote
scalar GitTimestamp
scalar URI
interface Node { id: ID! }
interface UniformResourceLocatable { resourcePath: URI! url: URI! }
interface Updatable { viewerCanUpdate: Boolean! }
enum OrderDirection { ASC DESC }
type PageInfo { endCursor: String hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String }
";
