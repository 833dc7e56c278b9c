/** How many slots a cluster has. */
export const SLOTS = 16_384

/** CRC-16/XMODEM of every byte. */
const CRC: readonly number[] = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff
  return crc
})

/** A key's slot: of the text in its first pair of braces, if that isn't empty; else of the whole key. */
export function keySlot(key: string): number {
  const from = key.indexOf('{')
  const to = from === -1 ? -1 : key.indexOf('}', from + 1)
  const tagged = to > from + 1 ? key.slice(from + 1, to) : key
  let crc = 0
  for (const byte of Buffer.from(tagged)) crc = ((crc << 8) & 0xffff) ^ CRC[(crc >> 8) ^ byte]!
  return crc % SLOTS
}
