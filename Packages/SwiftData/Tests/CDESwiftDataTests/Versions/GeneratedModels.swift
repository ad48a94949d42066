import CDESwiftData
import Foundation
import Observation
import Synchronization

// Models whose properties are decided at run time: each version of a generated schema has classes of its own, the specialisations of two
// generic ones for a tag, and says by their metadata which of their properties there are, and what they are called.

/// The classes of one version.
enum Made<Tag> {
  final class House: PersistentModel, Observable {
    var persistentBackingData: any BackingData<House>

    init() { persistentBackingData = House.createBackingData() }
    required init(backingData: any BackingData<House>) { persistentBackingData = backingData }

    static var schemaMetadata: [Schema.PropertyMetadata] {
      MadeVersions.spec(of: Tag.self).houseMetadata(Tag.self)
    }

    var id: Int {
      get { getValue(forKey: \.id) }
      set { setValue(forKey: \.id, to: newValue) }
    }

    var number0: Int {
      get { getValue(forKey: \.number0) }
      set { setValue(forKey: \.number0, to: newValue) }
    }
    var number1: Int {
      get { getValue(forKey: \.number1) }
      set { setValue(forKey: \.number1, to: newValue) }
    }
    var maybe0: Int? {
      get { getValue(forKey: \.maybe0) }
      set { setValue(forKey: \.maybe0, to: newValue) }
    }
    var maybe1: Int? {
      get { getValue(forKey: \.maybe1) }
      set { setValue(forKey: \.maybe1, to: newValue) }
    }
    var text0: String {
      get { getValue(forKey: \.text0) }
      set { setValue(forKey: \.text0, to: newValue) }
    }
    var text1: String {
      get { getValue(forKey: \.text1) }
      set { setValue(forKey: \.text1, to: newValue) }
    }
    var real0: Double {
      get { getValue(forKey: \.real0) }
      set { setValue(forKey: \.real0, to: newValue) }
    }
    var guests: [Guest] {
      get { getValue(forKey: \.guests) }
      set { setValue(forKey: \.guests, to: newValue) }
    }
  }

  final class Guest: PersistentModel, Observable {
    var persistentBackingData: any BackingData<Guest>

    init() { persistentBackingData = Guest.createBackingData() }
    required init(backingData: any BackingData<Guest>) { persistentBackingData = backingData }

    static var schemaMetadata: [Schema.PropertyMetadata] {
      MadeVersions.spec(of: Tag.self).guestMetadata(Tag.self)
    }

    var id: Int {
      get { getValue(forKey: \.id) }
      set { setValue(forKey: \.id, to: newValue) }
    }
    var house: House? {
      get { getValue(forKey: \.house) }
      set { setValue(forKey: \.house, to: newValue) }
    }
  }
}
