@_spi(CDE) import CDEStore
import Foundation
import Testing

@Suite("Compression")
struct DeflateTests {
  @Test("Bytes of many kinds are the same after compression and decompression")
  func roundTrips() throws {
    let seed = ProcessInfo.processInfo.environment["CDE_SEED"].flatMap(UInt64.init) ?? 71
    print("Compression, seed \(seed)")
    var state = seed
    func next() -> UInt8 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
    var samples: [[UInt8]] = [[], [0], Array("aaaaaaaaaaaaaaaaaaaaaaaaaaaa".utf8), Array(0...255)]
    samples.append((0..<70_000).map { _ in next() })
    samples.append((0..<70_000).map { _ in next() & 3 })
    samples.append(Array(repeating: 7, count: 100_000))
    samples.append(Array(String(repeating: "NSEntityDescription NSAttributeDescription ", count: 900).utf8))
    for sample in samples {
      let compressed = Deflate.compress(sample)
      #expect(try Deflate.decompress(compressed, limit: sample.count) == sample)
    }
    #expect(Deflate.compress(samples[7]).count < samples[7].count / 20)
  }

  /// What zlib makes of the text: with its own codes, and with fixed ones.
  static let foreign = [
    "jdNBCsJADEbhq8wREpMIodexgqB20423dyHDbB74bx+UfiSZ/X0+zs+wcdzH67jtz2Hb/mu+ms92WS1ni9V6tlytZq"
      + "vVYrYrNINvHf7xx+JgMbA4WBIsDZYCS4AlxLm0aHGwGFgcLAmWBkuJOwpxLi1aHCwGFgdLivdS4o5CnEuLFnpHJt5u"
      + "ivdS4o5CnEuLFnpHJt5uivdS2xc=",
    "S80rySypVDBQyE9TyM1PSc1RMLBOhYgZIsQMYWJGCDETmJgxQswSJmaCEDOFiZkixIxhYmZYxAyw6DXEYgcBtxhicY"
      + "sBFrcYYnGLCRa3WGJxiykWtxhjcYsxkeFiSaRbDLG4xQCLWwyxuMUEi1sssbjFlMg4MiYyXCyJdIshFrcYYHGLIRa3"
      + "mBCZXkyJjCNjIsPFkki3YMtHBkSmXRMi04spkXFkTGS4WBLpFmz5yIDItGtCZHoxtQYA",
  ]

  @Test("What zlib compressed is read", arguments: foreign)
  func zlib(_ text: String) throws {
    let bytes = Array(try #require(Data(base64Encoded: text)))
    let expected = (0..<60).map { "entity \($0 % 7) of model \($0 * $0 % 11);" }.joined()
    #expect(try Deflate.decompress(bytes, limit: 10_000) == Array(expected.utf8))
    #expect(throws: Deflate.Failure.tooLarge) { try Deflate.decompress(bytes, limit: 100) }
    // Cut off anywhere, it is an error.
    for count in 0..<bytes.count {
      #expect(throws: Deflate.Failure.self) { try Deflate.decompress(Array(bytes[..<count]), limit: 10_000) }
    }
  }

  @Test("Damaged bytes give an error or other bytes, and nothing worse")
  func damage() throws {
    let bytes = Array(try #require(Data(base64Encoded: Self.foreign[0])))
    for place in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[place] ^= 1 << UInt8(bit)
        let result = try? Deflate.decompress(damaged, limit: 10_000)
        #expect(result?.count ?? 0 <= 10_000)
      }
    }
  }
}
