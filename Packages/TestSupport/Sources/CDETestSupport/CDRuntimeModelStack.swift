public import CDEManagedModel
public import CDEModelRuntime

/// Model, container and contexts for classes that carry their own schema, over a throw-away store.
///
/// For tests and debugging. May be shared between isolations; ``viewContext`` belongs to the main actor.
public final class CDRuntimeModelStack: Sendable {
  /// The classes the model was made from, in the order given.
  public let modelTypes: [any CDRuntimeSchemaProviding.Type]
  /// Their schemas, in the same order.
  public let schemas: [CDRuntimeEntitySchema]
  /// The model made from the classes.
  public let model: NSManagedObjectModel
  /// A container over the model, with an empty store loaded.
  public let container: NSPersistentContainer

  /// The main actor's context of ``container``.
  @MainActor public var viewContext: NSManagedObjectContext { container.viewContext }

  /// Makes the model and a container over an empty store of its own.
  ///
  /// - Parameters:
  ///   - modelTypes: The classes, one entity each.
  ///   - testName: The store's name; empty for one made from `fileID` and `function`.
  ///   - fileID: Where the call is.
  ///   - function: Where the call is.
  ///   - subDirectory: The folder in the temporary folder that holds the store.
  ///   - automaticallyMergesChangesFromParent: What ``viewContext`` does with saves of other contexts.
  /// - Throws: `CDRuntimeModelBuilderError` for the model, ``CDTestContainerError`` for the store.
  public init(
    modelTypes: [any CDRuntimeSchemaProviding.Type], testName: String = "", fileID: String = #fileID,
    function: String = #function, subDirectory: String = "CoreDataEvolutionTestTemp",
    automaticallyMergesChangesFromParent: Bool = true
  ) throws {
    self.modelTypes = modelTypes
    schemas = CDRuntimeSchemaCollection.entitySchemas(modelTypes)
    model = try NSManagedObjectModel.makeRuntimeModel(modelTypes)
    container = try NSPersistentContainer.makeTest(
      model: model, testName: testName, fileID: fileID, function: function, subDirectory: subDirectory)
    container.viewContext.automaticallyMergesChangesFromParent = automaticallyMergesChangesFromParent
  }

  /// Makes the model of these classes and a container over an empty store of its own.
  ///
  /// - Throws: `CDRuntimeModelBuilderError` for the model, ``CDTestContainerError`` for the store.
  public convenience init(
    modelTypes: any CDRuntimeSchemaProviding.Type..., testName: String = "", fileID: String = #fileID,
    function: String = #function, subDirectory: String = "CoreDataEvolutionTestTemp",
    automaticallyMergesChangesFromParent: Bool = true
  ) throws {
    try self.init(
      modelTypes: modelTypes, testName: testName, fileID: fileID, function: function,
      subDirectory: subDirectory,
      automaticallyMergesChangesFromParent: automaticallyMergesChangesFromParent)
  }

  /// A new context with an isolation of its own.
  public func newBackgroundContext() -> NSManagedObjectContext { container.newBackgroundContext() }

  /// Runs a block on a new background context, later; returns at once.
  public func performBackgroundTask(_ block: @escaping @Sendable (NSManagedObjectContext) -> Void) {
    container.performBackgroundTask(block)
  }
}
