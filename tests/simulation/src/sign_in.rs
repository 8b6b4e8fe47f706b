//! The sign-in of persons in the program under test: its pages, and its token store in SQLite.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use edge_mcp::auth::Principal;
use edge_mcp::client::{McpClient, SignIn, SqliteTokens, TokenStore, TokenStoreError, token_migration};
use edge_mcp::http::PageRequest;
use edge_mcp::testing::TestDatabase;
use edge_mcp::{Context, Endpoint, HandlerError, StaticTokens};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use http::Response;

use crate::authorization::Grants;
use crate::case::Plan;
use crate::database::{Check, FaultyDatabase};
use crate::faults::Point;
use crate::program::{self, ORIGIN, tokens};
use crate::schedule::Owner;
use crate::sign_in_rows::Rows;
use crate::token_uses::{Access, Uses};
use crate::world::World;

/// The page that begins a sign-in, the one that ends it, and the client id.
pub const PAGE: &str = "https://program.example/sign-in";
pub const CALLBACK: &str = "https://program.example/sign-in/callback";
pub const CLIENT_ID: &str = "https://program.example/sign-in/client.json";
/// The cookie of a browser whose person is known to the program.
pub const SESSION: &str = "__Host-session";

/// A time, and whether the person is signed in from then on.
type Change = (u64, bool);

/// What a run knows about sign-ins.
#[derive(Default)]
pub struct SignIns {
    pub grants: Grants,
    pub uses: Uses,
    /// The database with the tokens, if the program has a server with a sign-in.
    pub database: OnceCell<(TestDatabase, Rows)>,
    /// The changes of each person at each server.
    changes: RefCell<BTreeMap<(String, usize), Vec<Change>>>,
}

impl SignIns {
    /// Records that a person is signed in to a server from now on, or is not.
    pub fn change(&self, world: &World, person: &str, server: usize, is_in: bool) {
        let mut changes = self.changes.borrow_mut();
        changes.entry((person.to_owned(), server)).or_default().push((world.schedule.now_ms(), is_in));
    }

    /// Returns whether no access of a person to a server was removed.
    pub fn was_never_out(&self, person: &str, server: usize) -> bool {
        let changes = self.changes.borrow();
        changes.get(&(person.to_owned(), server)).into_iter().flatten().all(|(_, is_in)| *is_in)
    }

    /// Returns whether a person was signed in to a server all the time since `since`.
    pub fn is_in_since(&self, person: &str, server: usize, since: u64) -> bool {
        let changes = self.changes.borrow();
        let changes = changes.get(&(person.to_owned(), server)).map_or(&[][..], Vec::as_slice);
        let before = changes.iter().rev().find(|(at, _)| *at <= since).is_some_and(|(_, is_in)| *is_in);
        before && changes.iter().all(|(at, is_in)| *at < since || *is_in)
    }
}

/// Returns the settings of the sign-in, if a server of the plan needs one.
pub fn settings(world: &Rc<World>, plan: &Plan, owner: Owner) -> Option<SignIn> {
    plan.servers.iter().find(|server| server.sign_in.is_some())?;
    let (sqlite, _) = world.sign_ins.database.get_or_init(|| {
        let sqlite = TestDatabase::empty();
        sqlite.migrate(token_migration()).expect("a table");
        (sqlite, Rows::new(&world.callers, plan.servers.len()))
    });
    let of_check = world.clone();
    let check: Check = Rc::new(move |sqlite| {
        if let Some((_, rows)) = of_check.sign_ins.database.get() {
            rows.check(&of_check, sqlite);
        }
    });
    let tokens = SqliteTokens::new(FaultyDatabase::database(world, sqlite, &check));
    let keys = world.deployments.keys();
    let tokens = WatchedTokens { tokens, world: world.clone(), owner };
    let sign_in = SignIn::new("Program", PAGE, keys, tokens).expect("settings").dynamic_registration();
    Some(world.deployments.with_client(sign_in, plan))
}

/// A token store that records its operations.
struct WatchedTokens {
    tokens: SqliteTokens,
    world: Rc<World>,
    owner: Owner,
}

impl WatchedTokens {
    fn watched<'a, T: 'a>(
        &'a self,
        key: &'a str,
        work: LocalBoxFuture<'a, Result<T, TokenStoreError>>,
    ) -> LocalBoxFuture<'a, Result<T, TokenStoreError>> {
        let watched = async move {
            let access = Access::begin(&self.world, self.owner, key);
            let result = work.await;
            access.end(result.is_err());
            result
        };
        watched.boxed_local()
    }
}

impl TokenStore for WatchedTokens {
    fn get<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<Option<String>, TokenStoreError>> {
        self.watched(key, self.tokens.get(key))
    }

    fn replace<'a>(
        &'a self,
        key: &'a str,
        current: Option<&'a str>,
        new: &'a str,
        keep: Duration,
    ) -> LocalBoxFuture<'a, Result<bool, TokenStoreError>> {
        let replaced = async move {
            match self.world.faults.at(Point::TokenWriteFails) {
                Some(_) => Err(TokenStoreError::new("the store does not answer")),
                None => self.tokens.replace(key, current, new, keep).await,
            }
        };
        self.watched(key, replaced.boxed_local())
    }

    fn remove<'a>(&'a self, key: &'a str) -> LocalBoxFuture<'a, Result<(), TokenStoreError>> {
        self.watched(key, self.tokens.remove(key))
    }
}

type Page = Result<Response<Vec<u8>>, HandlerError>;

/// What the pages need.
struct Pages {
    sign_in: SignIn,
    client: McpClient,
    tokens: StaticTokens,
    world: Rc<World>,
}

impl Pages {
    /// Returns who uses a browser.
    fn person(&self, cx: &Context) -> Result<Principal, HandlerError> {
        let cookies = cx.header("Cookie").unwrap_or_default();
        let mut cookies = cookies.split(';').filter_map(|cookie| cookie.trim().split_once('='));
        let token = cookies.find(|(name, _)| *name == SESSION).map(|(_, token)| token);
        let token = token.unwrap_or_default();
        if let Ok(person) = self.tokens.check(token, cx.now_ms() / 1000) {
            self.world.known.record(&person);
            return Ok(person);
        }
        let name = self.world.callers.iter().find(|name| program::token(name) == token);
        let person = name.and_then(|name| self.world.known.principal(name));
        person.ok_or_else(|| HandlerError::invalid("Log in first."))
    }

    /// Removes the access to the server in the query.
    async fn forget(&self, cx: &Context) -> Page {
        let url = cx.url();
        let server = url.split_once("?server=").map_or("", |(_, server)| server);
        self.sign_in.forget(&self.client, server, cx, &self.person(cx)?).await?;
        Ok(Response::new(b"forgotten".to_vec()))
    }
}

/// Adds the pages of the sign-in to the program.
pub fn pages(
    world: &Rc<World>,
    endpoint: Endpoint,
    sign_in: Option<SignIn>,
    client: &McpClient,
    plan: &Plan,
) -> Endpoint {
    let Some(sign_in) = sign_in else { return endpoint };
    let pages = Rc::new(Pages { sign_in, client: client.clone(), tokens: tokens(plan), world: world.clone() });
    let page = |answer: fn(Rc<Pages>, Context) -> LocalBoxFuture<'static, Page>| {
        let pages = pages.clone();
        move |_: PageRequest, cx: Context| answer(pages.clone(), cx)
    };
    endpoint
        .page(
            "/sign-in",
            page(|pages, cx| {
                async move { Ok(pages.sign_in.begin(&pages.client, &cx, &pages.person(&cx)?).await) }.boxed_local()
            }),
        )
        .page(
            "/sign-in/callback",
            page(|pages, cx| async move { Ok(pages.sign_in.finish(&cx, &pages.person(&cx)?).await) }.boxed_local()),
        )
        .page("/forget", page(|pages, cx| async move { pages.forget(&cx).await }.boxed_local()))
        .expose_header("cookie")
}

/// Returns the URL of the page that removes the access to a server.
pub fn forget_url(server: &str) -> String {
    format!("{ORIGIN}/forget?server={server}")
}
