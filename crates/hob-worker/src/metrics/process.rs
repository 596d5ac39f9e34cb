//! Metrics of the process itself, under the names that all of Prometheus' clients use.

use std::{fmt, fs, path::Path};

use hob_sandbox::stat_field;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, NoLabelSet},
    metrics::MetricType,
};
use rustix::param::{clock_ticks_per_second, page_size};

/// Where the kernel tells of this process. There is none on macOS, and then no metric.
const PROC: &str = "/proc/self";

/// Reads the kernel's numbers at each scrape.
#[derive(Debug)]
pub(super) struct Process;

/// What the kernel says.
struct Numbers {
    cpu_seconds: f64,
    start_time: f64,
    virtual_bytes: f64,
    resident_bytes: f64,
    /// `None` if only root may count them, as in a process that hides from its children.
    open_files: Option<f64>,
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Some(numbers) = numbers() else { return Ok(()) };
        encoder
            .encode_descriptor("process_cpu_seconds", "Processor time, in seconds", None, MetricType::Counter)?
            .encode_counter::<NoLabelSet, _, u64>(&numbers.cpu_seconds, None)?;
        for (name, what, value) in [
            ("process_start_time_seconds", "When the process started, in seconds since 1970", numbers.start_time),
            ("process_virtual_memory_bytes", "Virtual memory, in bytes", numbers.virtual_bytes),
            ("process_resident_memory_bytes", "Resident memory, in bytes", numbers.resident_bytes),
        ] {
            encoder.encode_descriptor(name, what, None, MetricType::Gauge)?.encode_gauge(&value)?;
        }
        if let Some(open_files) = numbers.open_files {
            let mut gauge =
                encoder.encode_descriptor("process_open_fds", "Open file descriptors", None, MetricType::Gauge)?;
            gauge.encode_gauge(&open_files)?;
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a size of a page, and ticks of a second")]
fn numbers() -> Option<Numbers> {
    let field = |number| stat_field(Path::new(PROC), number)?.parse::<f64>().ok();
    let (ticks, page) = (clock_ticks_per_second() as f64, page_size() as f64);
    let stat = fs::read_to_string("/proc/stat").ok()?;
    let booted: f64 = stat.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(Numbers {
        cpu_seconds: (field(14)? + field(15)?) / ticks,
        start_time: booted + field(22)? / ticks,
        virtual_bytes: field(23)?,
        resident_bytes: field(24)? * page,
        open_files: fs::read_dir(Path::new(PROC).join("fd")).ok().map(|files| files.count() as f64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_tells_of_this_process() {
        let numbers = numbers().unwrap();
        assert!(numbers.virtual_bytes >= numbers.resident_bytes && numbers.resident_bytes > 1e6);
        assert!(numbers.open_files >= Some(3.0) && numbers.cpu_seconds >= 0.0);
        // After this was written, and before a clock of 32 bits ends.
        assert!((1.7e9..4.3e9).contains(&numbers.start_time), "{}", numbers.start_time);
    }
}
