//! (a) Do workers share a core while another stands idle?

use super::machine::{Kernel, Time, boot_in};

pub(crate) fn measure() {
    let env = |key: &str, default: &str| std::env::var(key).unwrap_or_else(|_| default.to_owned());
    let script = format!(
        "WORKERS='{}' SECONDS_EACH='{}' HOWS='{}'\n{}",
        env("WORKERS", "1 2 3 4 5 6 7 8"),
        env("SECONDS_EACH", "4"),
        env("HOWS", "stock tick sensor"),
        include_str!("guest/siblings.sh")
    );
    let run = boot_in(Time::Instructions, Kernel::Newer, "8,sockets=1,cores=4,threads=2", &script);
    for line in run.all("siblings") {
        println!("{line}");
    }
}
