//
//  TripPayload.swift
//  Trips
//

import Foundation

/// A trip as the server sends it.
public struct TripPayload: Codable, Equatable {

  public struct Owner: Codable, Equatable {
    public var firstName: String?
    public var lastName: String
    public var email: String?
  }

  public struct Stop: Codable, Equatable {
    public var name: String
    public var nights: Int16
    public var countryCode: String?
    public var latitude: Double?
    public var longitude: Double?
  }

  public struct Item: Codable, Equatable {
    public enum Kind: String, Codable {
      case packing
      case task
    }

    public var kind: Kind
    public var title: String
    public var quantity: Int32?
    public var priority: Int16?
  }

  public var identifier: String
  public var name: String
  public var kind: Int16?
  public var rating: Int?
  public var budget: Decimal?
  public var startDate: Date?
  public var endDate: Date?
  public var owner: Owner?
  public var stops: [Stop]?
  public var items: [Item]?
  public var tags: [String]?

  public static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }

}
