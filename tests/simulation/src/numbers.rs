//! A tool whose schema has bounds for numbers, and calls of it with numbers near the bounds, in many spellings. The value that the schema
//! permits is the value that the handler gets.

use std::rc::Rc;

use edge_mcp::{Context, McpServerBuilder, Tool};
use edge_mcp_test_support::random::Random;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::caller::Caller;
use crate::ledger::Invariant;
use crate::world::World;

/// The name of the tool.
pub const MEASURE: &str = "measure";
/// The prefix of a text that becomes a number when it is sent.
const PREFIX: &str = "number:";

/// The arguments.
#[derive(Debug, Deserialize, JsonSchema)]
struct Measured {
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    part: f64,
    #[schemars(extend("minimum" = -10, "maximum" = 9_007_199_254_740_992_u64))]
    count: f64,
    #[schemars(extend("not" = { "const": 1 }))]
    other: f64,
    #[schemars(extend("uniqueItems" = true))]
    list: Vec<f64>,
}

impl Measured {
    /// Returns the member that the schema forbids.
    fn forbidden(&self) -> Option<&'static str> {
        let Self { part, count, other, list } = self;
        let is_equal = |nth: usize| list.iter().take(nth).any(|earlier| earlier.total_cmp(&list[nth]).is_eq());
        match () {
            () if *part <= 0.0 || *part >= 1.0 => Some("part"),
            () if *count < -10.0 || *count > 9_007_199_254_740_992.0 => Some("count"),
            #[expect(clippy::float_cmp, reason = "the schema compares exactly")]
            () if *other == 1.0 => Some("other"),
            () if (0..list.len()).any(is_equal) => Some("list"),
            () => None,
        }
    }
}

/// The numbers of a call, as they are spelled.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Spelled {
    part: String,
    count: String,
    other: String,
    list: Vec<String>,
    /// Whether the schema permits all of them, in each reading.
    is_plain: bool,
}

const PLAIN: [&[&str]; 3] =
    [&["0.5", "5e-1", "0.05E1", "1e-300"], &["-10", "0", "-0.0", "9007199254740992"], &["0.5", "-1", "2", "1e2"]];
const NEAR: [&[&str]; 3] = [
    &["0", "1", "1e-400", "0.99999999999999999999", "1.00000000000000000000001", "-1e-400"],
    &["-10.0000000000000000001", "9007199254740992.5", "9007199254740993", "1e400", "9.007199254740993e15"],
    &["1.0", "10e-1", "0.99999999999999999999", "1.00000000000000000000000001"],
];
/// `uniqueItems` compares integers with all digits, so a list of numbers has no two long integers (docs/tool-arguments.md).
const LISTS: [&[&str]; 3] = [&["0.1", "0.2"], &["0.1", "0.10000000000000000001"], &["1", "1.0"]];

impl Spelled {
    pub fn new(random: &mut Random) -> Self {
        let is_plain = random.once_in(3);
        let one = |random: &mut Random, member: usize| {
            let near = !is_plain && random.once_in(3);
            random.one(if near { NEAR[member] } else { PLAIN[member] }).to_owned()
        };
        let list = if is_plain || random.once_in(2) { LISTS[0] } else { LISTS[random.below(LISTS.len())] };
        let (part, count, other) = (one(random, 0), one(random, 1), one(random, 2));
        Self { part, count, other, list: list.iter().map(|number| (*number).to_owned()).collect(), is_plain }
    }
}

/// Replaces the texts that are numbers by the numbers, as they are spelled.
pub fn spelled(message: String) -> String {
    let mark = format!("\"{PREFIX}");
    if !message.contains(&mark) {
        return message;
    }
    let mut parts = message.split(&*mark);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + &part.replacen('"', "", 1))
}

/// Adds the tool.
pub fn add(server: McpServerBuilder, world: &Rc<World>) -> McpServerBuilder {
    let world = world.clone();
    let measure = move |measured: Measured, _: Context| {
        let forbidden = measured.forbidden();
        world.ledger.check(forbidden.is_none(), Invariant::OneValue, || {
            format!("the handler gets {measured:?}, whose `{}` the schema forbids", forbidden.unwrap_or_default())
        });
        async { "measured" }
    };
    server.tool(Tool::new(MEASURE, "Measures.", measure))
}

impl Caller {
    /// Calls the tool.
    pub async fn measure(&self, Spelled { part, count, other, list, is_plain }: &Spelled) {
        let number = |text: &String| format!("{PREFIX}{text}");
        let arguments = json!({
            "part": number(part), "count": number(count), "other": number(other),
            "list": list.iter().map(number).collect::<Vec<_>>(),
        });
        let params = json!({ "name": MEASURE, "arguments": arguments });
        let Some(answer) = self.post("tools/call", params, Some(MEASURE)).await else { return };
        if *is_plain && answer["result"]["content"][0]["text"] != "measured" {
            self.failed(&answer, MEASURE);
        }
    }
}
