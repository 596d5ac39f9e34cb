// Collaborators and their roles.
import { repository } from "../lib/seed.mjs";

export async function collaborators(session, report) {
  const { at } = await repository(session, "people");
  const [ada, wil] = [session.as("ada"), session.as("wil")];
  const all = `${at}/collaborators`;
  await wil.get(all);
  await wil.get(`${all}/tom`, { status: 204 });
  await wil.get(`${all}/out`, { status: 404 });
  const level = async (login) => {
    const { permission, role_name, user } = (await wil.get(`${all}/${login}/permission`)).body;
    return [permission, role_name, user.permissions.push];
  };
  report.same("a triager's level", await level("tom"), ["read", "triage", false]);
  report.same("a maintainer's level", await level("max"), ["write", "maintain", true]);
  await wil.get(`${all}/nobody/permission`, { status: 404 });
  await ada.put(`${all}/out`, { permission: "push" }, { status: 204 });
  report.same("the role given", await level("out"), ["write", "write", true]);
  await ada.put(`${all}/out`, { permission: "king" }, { status: 422, errors: [["Collaborator", "permission", "invalid"]] });
  await ada.put(`${all}/nobody`, {}, { status: 404 });
  await wil.put(`${all}/out`, { permission: "admin" }, { status: 403 });
  await ada.delete(`${all}/out`);
  await wil.get(`${all}/out`, { status: 404 });
}
