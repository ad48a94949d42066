public import CDEManagedModel
public import CDEModelFiles
internal import CDEStore
public import Foundation

/// The SQLite store type: a file in Core Data's layout.
public let NSSQLiteStoreType = "SQLite"
/// A store in memory. Its data is lost with its container.
public let NSInMemoryStoreType = "InMemory"

/// Metadata: the store's UUID, as a string.
public let NSStoreUUIDKey = "NSStoreUUID"
/// Metadata: the store's type.
public let NSStoreTypeKey = "NSStoreType"

/// Option: the store is read-only (`true`).
public let NSReadOnlyPersistentStoreOption = "NSReadOnlyPersistentStoreOption"
/// Option: how long to wait for another process's lock, in seconds.
public let NSPersistentStoreTimeoutOption = "NSPersistentStoreTimeoutOption"
/// Option: a dictionary of SQLite pragmas, for example `journal_mode`.
public let NSSQLitePragmasOption = "NSSQLitePragmasOption"
/// Option: a store of another version of the model is migrated when it is opened.
public let NSMigratePersistentStoresAutomaticallyOption = "NSMigratePersistentStoresAutomaticallyOption"
/// Option: a migration works out itself what changed between the two versions of the model.
public let NSInferMappingModelAutomaticallyOption = "NSInferMappingModelAutomaticallyOption"
/// Option: opening the store writes its file anew, without unused pages (`true`). A store that is opened for reading only, and one
/// in memory, are not written.
public let NSSQLiteManualVacuumOption = "NSSQLiteManualVacuumOption"
/// Option: opening the store counts the values of its indexes, by which SQLite chooses between them (`true`). A store that is
/// opened for reading only, and one in memory, are not written.
public let NSSQLiteAnalyzeOption = "NSSQLiteAnalyzeOption"
/// Option: the name of the SQLite file system (its `sqlite3_vfs`) that reads and writes all of the store's
/// files, as a string. It must be registered when the store is opened. Apple's Core Data has no such option.
public let CDESQLiteVFSOption = "CDESQLiteVFSOption"

/// Describes a store that a container or coordinator opens.
nonisolated open class NSPersistentStoreDescription: NSObject, NSCopying, @unchecked Sendable {
  // Guard: configured by one owner before stores are loaded, then only read.

  /// The store's file URL. `/dev/null` gives a separate store in memory for this description.
  ///
  /// Symbolic links are followed: the store is the file that they lead to, and its log, its journal and its external values are beside
  /// that file. If the last link leads to no file, the store is made where it leads. ``NSPersistentStore/url`` is the URL given here.
  ///
  /// The path, with its links followed, may have 504 bytes, because SQLite opens no longer ones. A longer one is an error, and no folder
  /// is made for it.
  open var url: URL?
  /// The store's type; by default ``NSSQLiteStoreType``.
  open var type = NSSQLiteStoreType
  /// The model's configuration for the store; nil for the whole model.
  open var configuration: String?
  /// Whether the store is read-only; false by default. The same as ``NSReadOnlyPersistentStoreOption``.
  open var isReadOnly: Bool {
    get { options[NSReadOnlyPersistentStoreOption] as? Bool ?? false }
    set { options[NSReadOnlyPersistentStoreOption] = newValue }
  }
  /// Seconds to wait for another writer before an error; 240 by default, as in Core Data.
  open var timeout: TimeInterval {
    get { options[NSPersistentStoreTimeoutOption] as? TimeInterval ?? 240 }
    set { options[NSPersistentStoreTimeoutOption] = newValue }
  }
  /// Whether a store of another version of the model is migrated when it is opened; true by default, as in Core Data. The same as
  /// ``NSMigratePersistentStoresAutomaticallyOption``.
  open var shouldMigrateStoreAutomatically: Bool {
    get { options[NSMigratePersistentStoresAutomaticallyOption] as? Bool ?? false }
    set { options[NSMigratePersistentStoresAutomaticallyOption] = newValue }
  }
  /// Whether a migration works out itself what changed; true by default, as in Core Data. Without it, a store of another version
  /// needs a mapping model: one of ``migrationMappingModels``, or a compiled one among the program's resources. The same as
  /// ``NSInferMappingModelAutomaticallyOption``.
  open var shouldInferMappingModelAutomatically: Bool {
    get { options[NSInferMappingModelAutomaticallyOption] as? Bool ?? false }
    set { options[NSInferMappingModelAutomaticallyOption] = newValue }
  }
  /// Old versions of the model, to migrate a store that has no copy of its model from. Empty by default: the copy in the store and the
  /// model files among the program's resources are found without it. Apple's Core Data has no such property.
  open var migrationSourceModels: [NSManagedObjectModel] = []
  /// Mapping models with which the store may be migrated. Empty by default: the compiled ones among the program's resources are
  /// found without it. Apple's Core Data has no such property.
  open var migrationMappingModels: [NSMappingModel] = []
  /// How far the migration of the store is, while it is opened. Cancelling it ends a migration with
  /// ``ManagedObjectError/Code/migrationCancelled``, and the store stays as it is.
  ///
  /// ```swift
  /// description.shouldAddStoreAsynchronously = true
  /// container.loadPersistentStores { _, error in print(error ?? "open") }
  /// print(description.migrationProgress.fractionCompleted)
  /// ```
  ///
  /// It begins when the migration begins; a store that needs none leaves it as it is. It may be read and cancelled from any
  /// thread, and added to another `Progress` as a child. Copies of the description share it. After a cancellation set a new one
  /// to try again. Apple's Core Data has no such property.
  open var migrationProgress = Progress.discreteProgress(totalUnitCount: -1)
  /// Whether the store is loaded in the background; false by default.
  open var shouldAddStoreAsynchronously = false
  /// The options, by the names of the option constants. At first the two of migrations, which are on.
  public private(set) var options: [String: Any] = [
    NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
  ]
  /// The pragmas set by ``setValue(_:forPragmaNamed:)``. Does not contain those of ``NSSQLitePragmasOption``,
  /// which override these.
  public private(set) var sqlitePragmas: [String: String] = [:]

  /// The observer of requests to the loaded store. Nil by default, which costs nothing.
  @_spi(CDE) public final var observer: (any StoreActivityObserver)?

  /// Makes a description of an SQLite store of the whole model.
  ///
  /// - Parameter url: The store's file URL. `/dev/null` gives a store in memory.
  public init(url: URL) {
    self.url = url
    super.init()
  }

  public override init() { super.init() }

  /// Sets an option, or removes it with nil. Unknown options are kept and have no effect.
  open func setOption(_ option: Any?, forKey key: String) { options[key] = option }

  /// Uses options alone, without those that a new description has.
  func useOptions(_ options: [AnyHashable: Any]) {
    self.options = Dictionary(options.map { ("\($0.key)", $0.value) }) { _, last in last }
  }

  /// Sets a pragma on each connection, for example `"DELETE"` for `journal_mode`.
  open func setValue(_ value: String?, forPragmaNamed name: String) { sqlitePragmas[name] = value }

  /// A description with the same values, which can be changed separately.
  open func copy(with zone: NSZone? = nil) -> Any {
    let copy = NSPersistentStoreDescription()
    copy.url = url
    copy.type = type
    copy.configuration = configuration
    copy.migrationSourceModels = migrationSourceModels
    copy.migrationMappingModels = migrationMappingModels
    copy.migrationProgress = migrationProgress
    copy.shouldAddStoreAsynchronously = shouldAddStoreAsynchronously
    copy.options = options
    copy.sqlitePragmas = sqlitePragmas
    copy.observer = observer
    return copy
  }

  /// Whether an option is on. Core Data also takes a dictionary of details.
  func isSet(_ option: String) -> Bool {
    switch options[option] {
    case let number as Bool: number
    case let number as NSNumber: number.boolValue
    case is [AnyHashable: Any]: true
    default: false
    }
  }
}
