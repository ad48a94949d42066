/// Makes an actor work with a background context of its own.
///
/// Adds `nonisolated let modelExecutor` and `nonisolated let modelContainer`, an
/// `init(container: NSPersistentContainer)` that makes its context by `newBackgroundContext()`, and the
/// conformance to ``NSModelActor``, which brings `modelContext`, `withContext` and the subscript by
/// object ID. Every isolated job runs on the context's executor.
///
/// - Parameter disableGenerateInit: With `true` there is no generated initialiser (and nothing that
///   depends on one); the type's own initialisers assign `modelExecutor` and `modelContainer`.
@attached(member, names: named(modelExecutor), named(modelContainer), named(init(container:)))
@attached(extension, conformances: NSModelActor, _NSModelActorInitializable)
public macro NSModelActor(disableGenerateInit: Bool = false) =
  #externalMacro(module: "CDEMacros", type: "NSModelActorMacro")

/// Makes a class on the main actor work with its container's view context.
///
/// Adds `let modelContainer`, an `init(modelContainer: NSPersistentContainer)` and the conformance to
/// ``NSMainModelActor``. The class is to be marked `@MainActor`.
///
/// - Parameter disableGenerateInit: With `true` there is no generated initialiser; the class's own
///   initialisers assign `modelContainer`.
@attached(member, names: named(modelContainer), named(init(modelContainer:)))
@attached(extension, conformances: NSMainModelActor)
public macro NSMainModelActor(disableGenerateInit: Bool = false) =
  #externalMacro(module: "CDEMacros", type: "NSMainModelActorMacro")
