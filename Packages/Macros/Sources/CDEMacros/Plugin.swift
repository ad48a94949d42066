import CDEMacroExpansion
@_spi(PluginMessage) import SwiftCompilerPluginMessageHandling

/// Answers the compiler's expansion requests until it closes the pipe.
///
/// The macros are a library of their own: tests of a target of macros make the package manager build every target
/// a second time, for the host.
@main
struct Plugin {
  static func main() throws {
    let connection = try StandardIOMessageConnection()
    let handler = PluginProviderMessageHandler(provider: MacroProvider())
    try CompilerPluginMessageListener(connection: connection, messageHandler: handler).main()
  }
}
