//! Tools whose arguments cost the framework the most memory to validate. Their handlers do not keep the arguments.

use edge_mcp::Tool;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

pub(crate) fn tools() -> [Tool; 5] {
    let number = json!({ "type": "number", "minimum": 1, "multipleOf": 0.01 });
    [
        Tool::new("paint", "Takes colours.", paint),
        Tool::new("calculate", "Takes an expression.", calculate),
        taking("take", &json!({})),
        taking("take_number", &number),
        taking("take_unique", &json!({ "type": "array", "uniqueItems": true })),
    ]
}

/// Returns the tool `name`, whose argument `value` has the schema `value`.
fn taking(name: &'static str, value: &Value) -> Tool {
    let schema = json!({ "type": "object", "properties": { "value": value } });
    Tool::with_schema(name, "Takes a value.", &schema, None, async |_: IgnoredAny| "taken")
}

/// The variants have documentation, so that the schema is a `oneOf` with one alternative for each variant.
#[derive(Deserialize, JsonSchema)]
enum Colour {
    /// Black.
    A,
    /// Blue.
    B,
    /// Green.
    C,
    /// Red.
    D,
    /// Yellow.
    E,
    /// Orange.
    F,
    /// Violet.
    G,
    /// White.
    H,
}

#[derive(Deserialize, JsonSchema)]
struct Picture {
    pixels: Vec<Colour>,
}

async fn paint(Picture { pixels }: Picture) -> String {
    format!("{} pixels", pixels.len())
}

#[expect(dead_code, reason = "the tests only deserialize expressions")]
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Expression {
    Add { left: Box<Expression>, right: Box<Expression> },
    Sub { left: Box<Expression>, right: Box<Expression> },
    Mul { left: Box<Expression>, right: Box<Expression> },
    Div { left: Box<Expression>, right: Box<Expression> },
    Pow { left: Box<Expression>, right: Box<Expression> },
    Lit { value: f64 },
}

#[expect(dead_code, reason = "the tests only deserialize expressions")]
#[derive(Deserialize, JsonSchema)]
struct Calculation {
    expression: Expression,
}

async fn calculate(_: Calculation) -> &'static str {
    "calculated"
}
