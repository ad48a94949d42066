import CDECoreData
import Testing

@Suite("Errors as Core Data's callers catch them")
struct ErrorTests {
  @Test("A missing value is caught by its code, which names the property and the object")
  func missingValue() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    context.performAndWait {
      let note = stack.insertNote(nil, in: context)
      do {
        try context.save()
        Issue.record("The save without a title succeeded.")
      } catch CocoaError.validationMissingMandatoryProperty {
        // As expected.
      } catch {
        Issue.record("Not caught by its code: \(error)")
      }
      do {
        try context.save()
      } catch let error as CocoaError {
        #expect(error.code == .validationMissingMandatoryProperty)
        #expect(error.validationKey == "title")
        #expect(error.validationObject as? NSManagedObject === note)
        #expect(error.userInfo[NSValidationKeyErrorKey] as? String == "title")
      } catch {
        Issue.record("No CocoaError: \(error)")
      }
      do {
        try context.save()
      } catch let error as NSError {
        #expect(error.domain == NSCocoaErrorDomain)
        #expect(error.code == NSValidationMissingMandatoryPropertyError)
      }
    }
  }

  @Test("Several failures are caught as one, with the single ones inside")
  func severalFailures() throws {
    let stack = try Stack()
    let context = stack.container.newBackgroundContext()
    context.performAndWait {
      stack.insertNote(nil, rank: 200, in: context)
      do {
        try context.save()
      } catch let error as NSError where error.code == NSValidationMultipleErrorsError {
        let details = error.userInfo[NSDetailedErrorsKey] as? [NSError] ?? []
        #expect(
          Set(details.map(\.code)) == [
            NSValidationMissingMandatoryPropertyError, NSManagedObjectValidationError,
          ])
      } catch {
        Issue.record("Not several failures: \(error)")
      }
    }
  }

  @Test("Codes in both spellings have Core Data's numbers")
  func numbers() {
    #expect(
      CocoaError.validationMissingMandatoryProperty.rawValue == NSValidationMissingMandatoryPropertyError)
    #expect(CocoaError.Code.managedObjectMerge.rawValue == NSManagedObjectMergeError)
    #expect(CocoaError.persistentStoreOpen.rawValue == NSPersistentStoreOpenError)
    #expect(CocoaError(.managedObjectValidation).errorCode == NSManagedObjectValidationError)
    #expect(CocoaError.Code.migrationMissingSourceModel.rawValue == NSMigrationMissingSourceModelError)
    #expect(NSMigrationMissingSourceModelError == 134_130)
  }

  @Test("A store of another model is refused with the code that applications look for")
  func incompatibleModel() throws {
    let stack = try Stack()
    let coordinator = stack.container.persistentStoreCoordinator
    try coordinator.remove(try #require(coordinator.persistentStores.first))
    let model = makeModel()
    model.entities[0].properties[0].name = "heading"
    let other = NSPersistentStoreCoordinator(managedObjectModel: model)
    #expect {
      try other.addPersistentStore(
        ofType: NSSQLiteStoreType, configurationName: nil, at: stack.url,
        options: [NSMigratePersistentStoresAutomaticallyOption: false])
    } throws: { ($0 as NSError).code == NSPersistentStoreIncompatibleVersionHashError }
  }
}
