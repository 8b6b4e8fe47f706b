//! A host on this machine. Its network consists of plain HTTP connections.

use std::fs::File;
use std::future::ready;
use std::io::{self, Read};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use edge_mcp::host::{CannotSign, FetchError, Host, Level, NoRandomness, Opened, Outbound, PrivateKey};
use futures::channel::{mpsc, oneshot};
use futures::executor::LocalSpawner;
use futures::future::LocalBoxFuture;
use futures::task::LocalSpawnExt;
use futures::{FutureExt, StreamExt, TryStreamExt};
use http::Request;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};

use crate::http1;

/// A host whose tasks run on an executor of this thread. Each connection and each timer has its own thread, so that waiting does not block
/// the executor.
pub(crate) struct LocalHost {
    spawner: LocalSpawner,
}

impl LocalHost {
    pub(crate) fn new(spawner: LocalSpawner) -> Self {
        Self { spawner }
    }
}

impl Host for LocalHost {
    fn now_ms(&self) -> u64 {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX)
    }

    fn sleep(&self, time: Duration) -> LocalBoxFuture<'static, ()> {
        let (alarm, rings) = oneshot::channel();
        thread::spawn(move || {
            thread::sleep(time);
            // Sending fails if the future was dropped.
            alarm.send(())
        });
        rings.map(drop).boxed_local()
    }

    fn spawn(&self, task: LocalBoxFuture<'static, ()>) {
        if self.spawner.spawn_local(task).is_err() {
            self.log(Level::Error, "the executor has ended");
        }
    }

    fn fill_random(&self, bytes: &mut [u8]) -> Result<(), NoRandomness> {
        File::open("/dev/urandom").and_then(|mut source| source.read_exact(bytes)).map_err(|_| NoRandomness)
    }

    fn log(&self, _: Level, line: &str) {
        eprintln!("{line}");
    }

    fn open(&self, request: Outbound) -> LocalBoxFuture<'static, Result<Opened, FetchError>> {
        let (head, arrives) = oneshot::channel();
        let (parts, body) = mpsc::unbounded();
        let sent = move || http1::send(&Request::try_from(request).map_err(io::Error::other)?);
        thread::spawn(move || match sent() {
            Ok((its_head, its_body)) => {
                // Sending fails if the client has dropped the response. Then the connection is closed.
                if head.send(Ok(its_head)).is_ok() {
                    its_body.map(|part| parts.unbounded_send(part)).find(Result::is_err);
                }
            }
            Err(error) => drop(head.send(Err(error))),
        });
        let opened = async move {
            let http1::Head { status, headers } = arrives.await.map_err(|_| closed())?.map_err(failed)?;
            Ok(Opened { status, headers, body: body.map_err(failed).boxed_local() })
        };
        opened.boxed_local()
    }

    fn sign(&self, key: PrivateKey, message: Vec<u8>) -> LocalBoxFuture<'static, Result<Vec<u8>, CannotSign>> {
        ready(sign(&key, &message)).boxed_local()
    }
}

/// Returns the signature of `message` by `key`.
pub(crate) fn sign(key: &PrivateKey, message: &[u8]) -> Result<Vec<u8>, CannotSign> {
    let invalid = |_| CannotSign("the key is not valid".into());
    let random = SystemRandom::new();
    match key {
        PrivateKey::Rs256(pkcs8) => {
            let key = RsaKeyPair::from_pkcs8(pkcs8).map_err(invalid)?;
            let mut signature = vec![0; key.public().modulus_len()];
            let signed = key.sign(&RSA_PKCS1_SHA256, &random, message, &mut signature);
            signed.map_err(|_| CannotSign("the signature failed".into()))?;
            Ok(signature)
        }
        PrivateKey::Es256(pkcs8) => {
            let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random).map_err(invalid)?;
            let signature = key.sign(&random, message).map_err(|_| CannotSign("the signature failed".into()))?;
            Ok(signature.as_ref().to_vec())
        }
        PrivateKey::EdDsa(pkcs8) => {
            let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8).map_err(invalid)?;
            Ok(key.sign(message).as_ref().to_vec())
        }
    }
}

fn failed(error: io::Error) -> FetchError {
    FetchError::Failed(error.to_string())
}

fn closed() -> FetchError {
    FetchError::Failed("the thread of the connection has ended".into())
}
