//! The points at which something can fail, and the decision whether it does.
//!
//! A decision depends on the seed, the point, and the number of times that the point was reached. So a run in which less happens still has
//! most of the faults of the longer run.

use std::cell::{Cell, RefCell};

use serde::{Deserialize, Serialize};

/// Defines the points with their names.
macro_rules! points {
    ($($name:ident $rate:literal $about:literal,)*) => {
        /// A point at which something can fail.
        #[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
        pub enum Point {
            $(#[doc = $about] $name,)*
        }

        impl Point {
            /// All points, with the number of faults in 10 000 times at which a point is reached, at the usual rate.
            pub const ALL: &[(Self, u64, &str)] = &[$((Self::$name, $rate, $about),)*];
        }
    };
}

points! {
    KeyChanges 1000 "The key of the token store is replaced, with both keys in between.",
    ClientIsWrong 1000 "A deployment of the program has the id of another client.",
    ProgramIsBroken 1000 "A deployment of the program cannot build its server, for half a minute.",
    RequestLost 150 "A request does not reach its server.",
    RequestDelayed 400 "A request takes long, so that later requests overtake it.",
    RequestTwice 120 "A request reaches its server twice.",
    RequestCut 60 "The body of a request ends early.",
    RequestStalls 40 "The body of a request stops, and the connection stays open.",
    AnswerLost 200 "The server answers, and the connection ends before the head of its answer.",
    AnswerDelayed 400 "An answer takes long, so that later answers overtake it.",
    AnswerCut 150 "The connection ends within the body of an answer.",
    AnswerEnds 80 "The body of an answer ends early, as if it were complete.",
    AnswerStalls 60 "The body of an answer stops, and the connection stays open.",
    ServerFails 150 "Another server answers with the status 500, and does nothing.",
    ServerLies 60 "Another server executes a request, and answers that it did not.",
    ServerFailsLate 250 "Another server executes a request, and answers with a failure.",
    ServerAsks 500 "Another server asks before it executes a call.",
    ServerChanges 100 "Another server changes its tools.",
    ServerIsSilent 50 "Another server never answers.",
    ServerConfuses 200 "A stream of another server has the answer to another request first.",
    SessionEnds 150 "Another server has forgotten the session.",
    TokenRevoked 400 "Another server does not accept a token any more.",
    DatabaseFails 80 "A batch of statements fails before it has an effect.",
    DatabaseFailsLate 80 "A batch of statements takes effect, and its answer is lost.",
    TokenWriteFails 300 "A write of the token store fails before it has an effect.",
    DatabaseIsSlow 200 "A batch of statements takes long.",
    EmbeddingFails 150 "The embedding model answers with the status 429, 500 or 503.",
    EmbeddingIsWrong 150 "The embedding model answers with unusable vectors.",
    EmbeddingIsSilent 60 "The embedding model never answers.",
    LimitReached 30 "A caller is over its rate limit.",
    LimitFails 100 "The counter of the rate limit fails.",
    IssuerFails 100 "An issuer answers a question about a token, or a request for its keys, with the status 500.",
    IndexFails 150 "The vector index fails before a request has an effect.",
    IndexFailsLate 100 "A request to the vector index takes effect, and its answer is lost.",
    IndexIsLate 3000 "A change of the vector index is visible after some seconds.",
    ClockJumps 5 "The clock jumps by minutes.",
    IsolateEnds 12 "An isolate ends while its tasks wait.",
    ObjectEnds 60 "The isolate of a durable object ends while its work waits.",
    WriteFails 80 "A write of a durable object fails.",
    WriteEnds 80 "The isolate of a durable object ends at a write.",
    AlarmIsLate 200 "The alarm of a durable object rings late.",
    AlarmRepeats 100 "The alarm of a durable object rings again, although it was answered.",
    MessageDelayed 300 "A message takes long to reach its durable object, so that later messages overtake it.",
    MessageLost 60 "A message does not reach its durable object.",
    MessageAnswerLost 60 "The answer of a durable object to a message is lost.",
    ServerListsForever 100 "From now on, each page of a list of another server has a next page.",
    ServerFloods 300 "Another server sends more notifications than a client reads.",
    ModelFails 150 "The chat model fails, or is overloaded.",
    ModelIsLate 150 "The chat model takes long.",
    ModelAnswersNonsense 100 "The answer of the chat model cannot be used.",
    CallerLeaves 60 "A caller does not wait for an answer.",
    CallerRepeats 300 "A caller sends a request twice at the same time.",
    CallerReplays 600 "A caller sends an old state with new answers.",
    CallerChanges 600 "A caller sends a state with other arguments, or to another server.",
    CallerMixes 600 "A caller sends the state or the id of another caller.",
    TokenServerFails 150 "An authorization server answers with the status 503, and does nothing.",
    TokenServerFailsLate 60 "An authorization server issues tokens, and answers with the status 500.",
    ClientForgotten 60 "An authorization server forgets a client that it has registered.",
    GrantEnds 60 "An authorization server ends the access of a person.",
    PersonDeclines 625 "A person does not allow the access.",
    CallbackTwice 1500 "A browser opens the end of a sign-in twice.",
    CallbackForeign 1500 "Another browser, or another person, opens the end of a sign-in.",
    TicketForeign 1500 "Another person opens the link of a sign-in.",
    CodeForeign 1500 "A browser ends its own sign-in with the code of another one.",
    DeletionIsLate 2500 "The alarm that deletes what has expired rings late.",
    CallerIsLate 1500 "A caller sends a state or the id of a task after it has expired.",
    LinkIsOld 500 "A person opens the link or the end of a sign-in after it has expired.",
}

/// The points that must not make a request of an honest person fail, except for a request to sign in if the access has ended.
const HARMLESS: &[Point] = &[
    Point::TokenRevoked,
    Point::GrantEnds,
    Point::CallbackTwice,
    Point::CallbackForeign,
    Point::TicketForeign,
    Point::CodeForeign,
    Point::PersonDeclines,
    Point::LimitFails,
    Point::IndexIsLate,
    Point::DeletionIsLate,
    Point::CallerIsLate,
];

/// The faults of a run.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub enum FaultPlan {
    /// Nothing fails.
    #[default]
    None,
    /// Faults at random: the seed, and the rate in percent of the usual rate. The points in the list never fail.
    Random { seed: u64, percent: u64, never: Vec<Point> },
    /// The faults in the list: each is a point, and the number of times that it was reached.
    Only(Vec<(Point, u64)>),
}

/// The counts of a point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub reached: u64,
    pub fired: u64,
}

/// Decides about the faults of a run.
pub struct Faults {
    plan: FaultPlan,
    counts: RefCell<Vec<Count>>,
    fired: RefCell<Vec<(Point, u64)>>,
    is_over: Cell<bool>,
}

impl Faults {
    pub fn new(plan: FaultPlan) -> Self {
        Self {
            plan,
            counts: RefCell::new(vec![Count::default(); Point::ALL.len()]),
            fired: RefCell::default(),
            is_over: Cell::new(false),
        }
    }

    /// Returns whether there is a fault at this point, this time. The number decides about its size: see [`Fault::size`].
    pub fn at(&self, point: Point) -> Option<Fault> {
        if self.is_over.get() {
            return None;
        }
        let nth = {
            let count = &mut self.counts.borrow_mut()[point as usize];
            count.reached += 1;
            count.reached
        };
        let fires = match &self.plan {
            FaultPlan::None => false,
            FaultPlan::Random { seed, percent, never } => {
                let rate = Point::ALL[point as usize].1 * percent / 100;
                mix(*seed, point as u64, nth) % 10_000 < rate && !never.contains(&point)
            }
            FaultPlan::Only(faults) => faults.contains(&(point, nth)),
        };
        if !fires {
            return None;
        }
        self.counts.borrow_mut()[point as usize].fired += 1;
        self.fired.borrow_mut().push((point, nth));
        // The size does not depend on the seed, so a list of the faults of a run is the same run.
        Some(Fault(mix(7, point as u64, nth + (1 << 32))))
    }

    /// Lets nothing fail any more.
    pub fn stop(&self) {
        self.is_over.set(true);
    }

    /// Returns whether something has failed that can make a request fail, and may still fail.
    pub fn has_failed(&self) -> bool {
        !self.is_over.get() && self.has_failed_except(&[])
    }

    /// Returns whether something has failed at any time that can make a request fail, except at these points.
    pub fn has_failed_except(&self, points: &[Point]) -> bool {
        self.fired.borrow().iter().any(|(point, _)| !HARMLESS.contains(point) && !points.contains(point))
    }

    /// Returns how often a fault at this point has happened.
    pub fn fired_at(&self, point: Point) -> u64 {
        self.counts.borrow()[point as usize].fired
    }

    /// Returns the faults so far.
    pub fn fired(&self) -> Vec<(Point, u64)> {
        self.fired.borrow().clone()
    }

    /// Returns whether a fault at one of these points has happened.
    pub fn has_fired(&self, points: &[Point]) -> bool {
        points.iter().any(|point| self.fired_at(*point) > 0)
    }

    pub fn counts(&self) -> Vec<Count> {
        self.counts.borrow().clone()
    }
}

/// A fault that happens.
#[derive(Clone, Copy, Debug)]
pub struct Fault(u64);

impl Fault {
    /// Returns the size of the fault: a number less than `limit`, which must not be 0.
    pub fn size(self, limit: usize) -> usize {
        usize::try_from(self.0 % limit as u64).expect("a number less than a usize")
    }

    /// Returns a time of the fault in milliseconds, less than `limit`. Most times are short.
    pub fn ms(self, limit: u64) -> u64 {
        let scale = self.0 % 4;
        1 + (self.0 >> 8) % (limit >> (3 * (3 - scale))).max(1)
    }
}

fn mix(seed: u64, point: u64, nth: u64) -> u64 {
    let mut mixed = seed ^ point.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ nth.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    for _ in 0..2 {
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
    }
    mixed
}
