/// Gives an actor its own background context.
///
/// Adds `nonisolated let modelExecutor` and `nonisolated let modelContainer`, an `init(container:
/// NSPersistentContainer)` that makes the context by `newBackgroundContext()`, and the conformance to
/// ``NSModelActor``, which adds `modelContext`, `withContext` and the subscript by object ID. All isolated
/// jobs run on the context's executor.
///
/// - Parameter disableGenerateInit: With `true` no initialiser is generated, and nothing that depends on one.
///   The type's own initialisers assign `modelExecutor` and `modelContainer`.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init(container:)))
@attached(extension, conformances: NSModelActor, _NSModelActorInitializable)
public macro NSModelActor(disableGenerateInit: Bool = false) =
  #externalMacro(module: "CDEMacros", type: "NSModelActorMacro")

/// Gives a class on the main actor its container's view context.
///
/// Adds `let modelContainer`, an `init(modelContainer: NSPersistentContainer)` and the conformance to
/// ``NSMainModelActor``. Mark the class `@MainActor`.
///
/// - Parameter disableGenerateInit: With `true` no initialiser is generated. The class's own initialisers
///   assign `modelContainer`.
@attached(member, names: named(modelContainer), named(init(modelContainer:)))
@attached(extension, conformances: NSMainModelActor)
public macro NSMainModelActor(disableGenerateInit: Bool = false) =
  #externalMacro(module: "CDEMacros", type: "NSMainModelActorMacro")
