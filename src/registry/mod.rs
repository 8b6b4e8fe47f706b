//! The description of a server as data: packages, remotes, `server.json`.
//!
//! ```
//! use edge_mcp::registry::{Argument, Command, Input, Package, Remote, Repository};
//!
//! let repository = Repository::new("https://github.com/ada/servers", "github").subfolder("weather");
//! let folder = Argument::new("folder", "The folder with the documents").required();
//! let port = Argument::new("port", "The port to listen on").long_flag("--port").default_value("8080");
//! let package = Package::new("npm", "@ada/weather", "1.0.2")
//!     .command(Command::new("npx").argument(folder).argument(port))
//!     .environment_variable(Input::new("WEATHER_KEY", "The key of the weather service").required().secret());
//! let remote = Remote::streamable("https://weather.example.com/mcp");
//! ```

pub(crate) mod about;
mod forms;
mod package;
mod server_json;

pub use package::{Argument, Command, Input, Package, Remote, Repository};
pub use server_json::ServerJson;
pub(crate) use server_json::adapted;
