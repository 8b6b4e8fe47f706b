//! The deployments of the program during a run: one that cannot serve, one without the right client id, and two that change the key of the
//! token store. Each one replaces all isolates.

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::client::{OwnClient, SignIn, TokenKeys};
use edge_mcp::{BuildError, McpServer, Tool};

use crate::authorization::{self, CONFIGURED, OWN_CLIENT, WRONG_CLIENT};
use crate::case::Plan;
use crate::faults::{Fault, Point};
use crate::sign_in_rows::{KEY, NEW_KEY};
use crate::upstream;
use crate::world::World;

/// A deployment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deployment {
    /// The number of the deployment.
    pub number: u32,
    /// Whether the program cannot build its server.
    pub is_broken: bool,
    /// Whether the program has the id of another client.
    has_wrong_client: bool,
    keys: Keys,
}

/// The keys of the token store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Keys {
    #[default]
    Old,
    Both,
    New,
}

/// The current deployment.
#[derive(Default)]
pub struct Deployments(Cell<Deployment>);

impl Deployments {
    pub fn current(&self) -> Deployment {
        self.0.get()
    }

    /// Deploys the program with a change.
    fn deploy(&self, world: &World, change: impl FnOnce(&mut Deployment)) {
        let mut next = self.0.get();
        change(&mut next);
        next.number += 1;
        self.0.set(next);
        world.trace(|| format!("{next:?}"));
    }

    /// Returns the text with the keys of the token store.
    pub fn keys(&self) -> TokenKeys {
        let text = match self.current().keys {
            Keys::Old => KEY.to_owned(),
            Keys::Both => format!("{NEW_KEY} {KEY}"),
            Keys::New => NEW_KEY.to_owned(),
        };
        TokenKeys::from_text("MCP_TOKEN_KEY", Some(&text)).expect("keys")
    }

    /// Returns whether the current keys have opened a row.
    pub fn can_open(&self, key: &str) -> bool {
        match self.current().keys {
            Keys::Old => key == KEY,
            Keys::Both => true,
            Keys::New => key == NEW_KEY,
        }
    }

    /// Adds the client of the operator to the settings of the sign-in.
    pub fn with_client(&self, sign_in: SignIn, plan: &Plan) -> SignIn {
        if !plan.has_own_client {
            return sign_in;
        }
        let id = if self.current().has_wrong_client { WRONG_CLIENT } else { OWN_CLIENT };
        let client = OwnClient::new(&authorization::issuer(CONFIGURED), id);
        let servers = (0..plan.servers.len()).filter(|server| authorization::of_server(*server) == CONFIGURED);
        sign_in.client(servers.fold(client, |client, server| client.server(&upstream::name(server), ["use"])))
    }
}

/// Returns the error of a program that cannot build its server.
pub fn error() -> BuildError {
    let tool = || Tool::new("twice", "Is there twice.", || async { "" });
    McpServer::builder("broken", "1.0.0").tool(tool()).tool(tool()).build().err().expect("two tools have one name")
}

/// Deploys the program several times, if there are such faults.
pub async fn run(world: Rc<World>) {
    let World { schedule, faults, deployments, .. } = &*world;
    let plan = world.plan();
    let has_sign_in = plan.servers.iter().any(|server| server.sign_in.is_some());
    let some = |fault: Fault| fault.ms(20_000);
    if let Some(fault) = faults.at(Point::KeyChanges).filter(|_| has_sign_in) {
        schedule.sleep(some(fault)).await;
        deployments.deploy(&world, |next| next.keys = Keys::Both);
        schedule.sleep(20_000 + some(fault)).await;
        deployments.deploy(&world, |next| next.keys = Keys::New);
    }
    if let Some(fault) = faults.at(Point::ClientIsWrong).filter(|_| has_sign_in && plan.has_own_client) {
        schedule.sleep(some(fault)).await;
        deployments.deploy(&world, |next| next.has_wrong_client = true);
        schedule.sleep(5000 + some(fault)).await;
        deployments.deploy(&world, |next| next.has_wrong_client = false);
    }
    if let Some(fault) = faults.at(Point::ProgramIsBroken) {
        schedule.sleep(some(fault)).await;
        deployments.deploy(&world, |next| next.is_broken = true);
        schedule.sleep(31_000 + some(fault)).await;
        deployments.deploy(&world, |next| next.is_broken = false);
    }
}
