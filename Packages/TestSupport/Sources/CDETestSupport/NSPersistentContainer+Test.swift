public import CDEManagedModel
public import CDEModelRuntime

extension NSPersistentContainer {
  /// Makes a container over an empty SQLite store of its own, for one test.
  ///
  /// The store is `<temporary folder>/<subDirectory>/<name>.sqlite`, a real file with a write-ahead log:
  /// what a test exercises is what an app runs. Files that an earlier run left under the name are deleted
  /// first; those of this run stay for inspection. Loading is synchronous, and containers are made one at a
  /// time in a process, so tests may call this in parallel. `viewContext` merges nothing by itself.
  ///
  /// The default name comes from the call site, which suits one container for each test function. A
  /// function that needs several, or runs for several arguments at once, passes a name for each; a second
  /// container of the same name takes the first one's files away.
  ///
  /// - Parameters:
  ///   - model: The model. It can't be changed from here on.
  ///   - testName: The name. Empty for one made from `fileID` and `function`. Everything but letters,
  ///     digits and `._-` becomes `_`; the result is also the container's `name`.
  ///   - fileID: Where the call is.
  ///   - function: Where the call is.
  ///   - subDirectory: The folder in the temporary folder that holds the store.
  /// - Returns: The container, its store loaded.
  /// - Throws: ``CDTestContainerError``. Nothing here is fatal.
  public static func makeTest(
    model: NSManagedObjectModel, testName: String = "", fileID: String = #fileID,
    function: String = #function, subDirectory: String = "CoreDataEvolutionTestTemp"
  ) throws -> NSPersistentContainer {
    let name = TestStoreName(testName: testName, fileID: fileID, function: function)
    let files = TestStoreFiles(name: name, subDirectory: subDirectory)
    return try TestStoreOpener(name: name, model: model, files: files, options: TestStoreOptions()).open()
  }

  /// Makes a container for the model of classes that carry their own schema, over an empty store; see
  /// ``makeTest(model:testName:fileID:function:subDirectory:)``. Each class is one entity, and the same list gives
  /// the same model.
  ///
  /// - Throws: `CDRuntimeModelBuilderError` for the model, ``CDTestContainerError`` for the store.
  public static func makeRuntimeTest(
    modelTypes: [any CDRuntimeSchemaProviding.Type], testName: String = "", fileID: String = #fileID,
    function: String = #function, subDirectory: String = "CoreDataEvolutionTestTemp"
  ) throws -> NSPersistentContainer {
    try makeTest(
      model: NSManagedObjectModel.makeRuntimeModel(modelTypes), testName: testName, fileID: fileID,
      function: function, subDirectory: subDirectory)
  }

  /// Makes a container for the model of these classes, over an empty store; see
  /// ``makeTest(model:testName:fileID:function:subDirectory:)``. Each class is one entity, and the same list gives
  /// the same model.
  ///
  /// - Throws: `CDRuntimeModelBuilderError` for the model, ``CDTestContainerError`` for the store.
  public static func makeRuntimeTest(
    modelTypes: any CDRuntimeSchemaProviding.Type..., testName: String = "", fileID: String = #fileID,
    function: String = #function, subDirectory: String = "CoreDataEvolutionTestTemp"
  ) throws -> NSPersistentContainer {
    try makeRuntimeTest(
      modelTypes: modelTypes, testName: testName, fileID: fileID, function: function,
      subDirectory: subDirectory)
  }
}
