@_spi(CDE) import CDEStore
import Foundation
import Testing

@Suite("Random UUIDs")
struct RandomUUIDTests {
  @Test("They differ, and are of version 4 and the standard's variant")
  func form() {
    let made = (0..<1000).map { _ in UUID.makeRandom() }
    #expect(Set(made).count == made.count)
    for id in made {
      #expect(id.uuid.6 >> 4 == 4 && id.uuid.8 >> 6 == 2, "\(id)")
    }
    // Each other bit has both values.
    var (ones, zeros) = ([UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 16))
    for id in made {
      withUnsafeBytes(of: id.uuid) { bytes in
        for index in 0..<16 {
          ones[index] |= bytes[index]
          zeros[index] |= ~bytes[index]
        }
      }
    }
    for index in 0..<16 where index != 6 && index != 8 {
      #expect(ones[index] == 0xFF && zeros[index] == 0xFF, "byte \(index)")
    }
  }
}
