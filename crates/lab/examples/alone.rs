//! Starts one server of the lab, prints its address, and ends with its standard input: `cargo run -p lab --example alone -- mariadb`.

use std::io::Read;

fn main() -> Result<(), String> {
    let name = std::env::args().nth(1).unwrap_or_default();
    let known = [lab::MARIADB, lab::MOSQUITTO, lab::POSTGRES, lab::RABBITMQ, lab::REDIS];
    let server = known.into_iter().find(|server| server.name() == name);
    let server = server.ok_or_else(|| format!("no server is {name:?}"))?;
    let running = lab::Alone::start(&[server]).map_err(|error| format!("failed to {error}"))?;
    println!("{}", running.url(&name));
    // Its end is awaited; it has no text.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    Ok(())
}
