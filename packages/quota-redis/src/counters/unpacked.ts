/**
 * Reads what Redis' `cmsgpack.pack` wrote of a table of numbers, texts and tables. Texts stay bytes; an empty table is `[]`.
 * @throws {RangeError} for anything else
 */
export function unpacked(bytes: Buffer): unknown {
  let at = 0
  const number = (length: number, read: (offset: number) => number | bigint): number => {
    const value = Number(read.call(bytes, at))
    at += length
    return value
  }
  const text = (length: number): Buffer => {
    at += length
    if (at > bytes.length) throw new RangeError('the text ends too early')
    return bytes.subarray(at - length, at)
  }
  const list = (length: number): unknown[] => Array.from({ length: bounded(length) }, () => next())
  const table = (length: number): unknown => {
    const entries = Array.from({ length: bounded(length) }, () => [String(next()), next()] as const)
    return Object.fromEntries(entries)
  }
  const bounded = (length: number): number => {
    if (length > bytes.length) throw new RangeError('more members than bytes')
    return length
  }
  const next = (): unknown => {
    const type = bytes.readUInt8(at++)
    if (type < 0x80) return type
    if (type < 0x90) return table(type - 0x80)
    if (type < 0xa0) return list(type - 0x90)
    if (type < 0xc0) return text(type - 0xa0)
    if (type >= 0xe0) return type - 0x100
    switch (type) {
      case 0xc2:
        return false
      case 0xc3:
        return true
      case 0xca:
        return number(4, bytes.readFloatBE)
      case 0xcb:
        return number(8, bytes.readDoubleBE)
      case 0xcc:
        return number(1, bytes.readUInt8)
      case 0xcd:
        return number(2, bytes.readUInt16BE)
      case 0xce:
        return number(4, bytes.readUInt32BE)
      case 0xcf:
        return number(8, bytes.readBigUInt64BE)
      case 0xd0:
        return number(1, bytes.readInt8)
      case 0xd1:
        return number(2, bytes.readInt16BE)
      case 0xd2:
        return number(4, bytes.readInt32BE)
      case 0xd3:
        return number(8, bytes.readBigInt64BE)
      case 0xd9:
        return text(number(1, bytes.readUInt8))
      case 0xda:
        return text(number(2, bytes.readUInt16BE))
      case 0xdb:
        return text(number(4, bytes.readUInt32BE))
      case 0xdc:
        return list(number(2, bytes.readUInt16BE))
      case 0xde:
        return table(number(2, bytes.readUInt16BE))
      default:
        throw new RangeError(`no type ${type} is known`)
    }
  }
  return next()
}
