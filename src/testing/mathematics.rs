//! The functions of mathematics that D1 has. The bundled SQLite is compiled without them.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};

type OfOne = fn(f64) -> f64;
type OfTwo = fn(f64, f64) -> f64;

const OF_ONE: &[(&str, OfOne)] = &[
    ("acos", f64::acos),
    ("acosh", f64::acosh),
    ("asin", f64::asin),
    ("asinh", f64::asinh),
    ("atan", f64::atan),
    ("atanh", f64::atanh),
    ("ceil", f64::ceil),
    ("ceiling", f64::ceil),
    ("cos", f64::cos),
    ("cosh", f64::cosh),
    ("degrees", f64::to_degrees),
    ("exp", f64::exp),
    ("floor", f64::floor),
    ("ln", f64::ln),
    ("log", f64::log10),
    ("log10", f64::log10),
    ("log2", f64::log2),
    ("radians", f64::to_radians),
    ("sin", f64::sin),
    ("sinh", f64::sinh),
    ("sqrt", f64::sqrt),
    ("tan", f64::tan),
    ("tanh", f64::tanh),
    ("trunc", f64::trunc),
];

const OF_TWO: &[(&str, OfTwo)] = &[
    ("atan2", f64::atan2),
    ("log", |base, number| number.log(base)),
    ("mod", |number, divisor| number % divisor),
    ("pow", f64::powf),
    ("power", f64::powf),
];

/// Returns a number that is an argument of a function. Other values make the result NULL.
fn argument(context: &Context<'_>, at: usize) -> Option<f64> {
    context.get(at).ok()
}

pub(super) fn add(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    for (name, function) in OF_ONE {
        connection.create_scalar_function(*name, 1, flags, move |context| Ok(argument(context, 0).map(function)))?;
    }
    for (name, function) in OF_TWO {
        connection.create_scalar_function(*name, 2, flags, move |context| {
            Ok(argument(context, 0).zip(argument(context, 1)).map(|(one, two)| function(one, two)))
        })?;
    }
    connection.create_scalar_function("pi", 0, flags, |_| Ok(std::f64::consts::PI))
}
