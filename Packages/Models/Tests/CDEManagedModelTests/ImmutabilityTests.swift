import Foundation
import Testing

@_spi(CDE) @testable import CDEManagedModel

@Suite("A model in use")
struct ImmutabilityTests {
  private func expectMessage(_ result: ExitTest.Result?, _ text: String) {
    let output = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(output.contains(text))
  }

  @Test("Changing a property traps")
  func property() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let sample = SampleModel()
      _ = try sample.model.freeze()
      sample.title.isOptional = false
    }
    expectMessage(result, "Can't modify an immutable model. Book.title")
  }

  @Test("Changing an entity traps")
  func entity() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let sample = SampleModel()
      _ = try sample.model.freeze()
      sample.novel.properties = []
    }
    expectMessage(result, "Can't modify an immutable model. Novel")
  }

  @Test("Changing the model traps")
  func model() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let sample = SampleModel()
      _ = try sample.model.freeze()
      sample.model.entities = []
    }
    expectMessage(result, "Can't modify an immutable model. The model")
  }

  @Test("An entity put below itself traps")
  func circle() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let sample = SampleModel()
      sample.novel.subentities = [sample.book]
    }
    expectMessage(result, "An entity can't be its own ancestor")
  }

  @Test("An entity in two models traps")
  func twoModels() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let sample = SampleModel()
      NSManagedObjectModel().entities = [sample.book]
    }
    expectMessage(result, "An entity belongs to one model")
  }

  @Test("A property in two entities traps")
  func twoEntities() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let sample = SampleModel()
      sample.person.properties.append(sample.title)
    }
    expectMessage(result, "A property belongs to one entity")
  }
}
