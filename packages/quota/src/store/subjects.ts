import { placedLimits } from '../policy/cells.ts'
import type { Policy } from '../policy/policy.ts'
import type { Subject } from '../policy/units.ts'
import type { LayerSchema, StoreSchema } from '../windows/identity.ts'

export type { LayerSchema, StoreSchema, Subject }

/**
 * A subject's keys: one for all layers, or by {@link LayerSchema.by}. `null`: it has no key there, and its requests leave
 * out those layers.
 */
export type SubjectKeys = string | Readonly<Record<string, string | null>>

/** Returns the counters that a policy needs. */
export function storeSchema(policy: Policy): StoreSchema {
  return placedLimits(policy).schema
}

/** The member of a subject that is its key in a layer. */
export function keyName({ name, by = name }: Pick<LayerSchema, 'name' | 'by'>): string {
  return by
}

/** Whether a subject has a key in a layer. Without one, the layer's limits don't apply. */
export function hasKey(layer: Pick<LayerSchema, 'name' | 'by' | 'shared'>, subject: SubjectKeys): boolean {
  return layer.shared || typeof subject === 'string' || subject[keyName(layer)] !== null
}

/** Returns a subject's key in a layer. Shared layers have one key for all subjects. */
export function layerKey(layer: Pick<LayerSchema, 'name' | 'by' | 'shared'>, subject: SubjectKeys): string {
  if (layer.shared) return ''
  return typeof subject === 'string' ? subject : subject[keyName(layer)]!
}

/** The owner of ids and holds. */
export interface Owner {
  /** The member of the subject that has its key: see {@link LayerSchema.by}. */
  readonly by: string
  readonly key: string
}

/** Returns the owner of a subject's ids and holds: its key in the first layer that isn't shared and in which it has one. */
export function ownerOf({ layers }: Pick<StoreSchema, 'layers'>, subject: SubjectKeys): Owner {
  for (const layer of layers) {
    if (layer.shared) continue
    const by = keyName(layer)
    const key = typeof subject === 'string' ? subject : subject[by]
    if (typeof key === 'string') return { by, key }
  }
  throw new TypeError('the subject has no key in any layer of its own')
}

/** A server-side id that makes repeated reservations safe. */
export interface ReservationId {
  /** The caller's id, 1 to 256 bytes. It belongs to the subject. */
  readonly id: string
  /** Identifies the holder of an id: a new text for each reservation handle in any process. */
  readonly nonce: string
  /** The use of the id. Using it for something else is a conflict. */
  readonly fingerprint: string
  /** How long the record is kept after its last write, in milliseconds. */
  readonly ttlMs: number
}

/** The longest key that stores get as it is, in bytes of UTF-8. */
const MAX_BYTES = 200
/** A UTF-16 unit has at most three bytes in UTF-8, so shorter texts needn't be measured. */
const SURELY_SHORT = Math.floor(MAX_BYTES / 3)
/** The start of a hashed key. A caller's own key that starts like this is hashed too, so the two never collide. */
const MARK = 'sha256:'

/** Returns the key that counts for a text: itself, or its marked SHA-256 above 200 bytes. */
export function countedKey(text: string): string {
  if (!isHashed(text)) return text
  return `${MARK}${sha256(new TextEncoder().encode(text))}`
}

/** Returns the subject that counts. Long keys are hashed, in each layer on its own. */
export function countedSubject(subject: Subject): Subject {
  if (typeof subject === 'string') return countedKey(subject)
  for (const key in subject) {
    if (isHashed(subject[key] ?? ''))
      return Object.fromEntries(Object.entries(subject).map(([layer, text]) => [layer, text && countedKey(text)]))
  }
  return subject
}

function isHashed(text: string): boolean {
  if (text.startsWith(MARK)) return true
  if (text.length <= SURELY_SHORT) return false
  return text.length > MAX_BYTES || new TextEncoder().encode(text).length > MAX_BYTES
}

// SHA-256 (FIPS 180-4). Here and not from a library, because it must be synchronous, run without Node's modules, and fit
// into the bundle's budget. A test compares it with Node's.

const PRIMES: readonly number[] = /* @__PURE__ */ firstPrimes(64)

/** The first 32 bits of a number's fraction. */
function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0
}

const ROUNDS: readonly number[] = /* @__PURE__ */ PRIMES.map((prime) => fraction(Math.cbrt(prime)))
const START: readonly number[] = /* @__PURE__ */ PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)))

function firstPrimes(count: number): number[] {
  const primes: number[] = []
  for (let n = 2; primes.length < count; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return primes
}

function turned(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/** Returns the bytes, a 1 bit, zeros, and the length in bits, as whole blocks of 64 bytes. */
function padded(bytes: Uint8Array): DataView {
  const blocks = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / 64) * 64))
  new Uint8Array(blocks.buffer).set(bytes)
  blocks.setUint8(bytes.length, 0x80)
  blocks.setUint32(blocks.byteLength - 8, Math.floor(bytes.length / 2 ** 29))
  blocks.setUint32(blocks.byteLength - 4, bytes.length << 3)
  return blocks
}

/** Returns the words of a block, extended to one for each round. */
function scheduleOf(blocks: DataView, from: number): Int32Array {
  const words = new Int32Array(64)
  for (let i = 0; i < 16; i++) words[i] = blocks.getInt32(from + 4 * i)
  for (let i = 16; i < 64; i++) {
    const [before, last] = [words[i - 15]!, words[i - 2]!]
    const low = turned(before, 7) ^ turned(before, 18) ^ (before >>> 3)
    const high = turned(last, 17) ^ turned(last, 19) ^ (last >>> 10)
    words[i] = words[i - 16]! + low + words[i - 7]! + high
  }
  return words
}

/** Returns the SHA-256 of bytes in hexadecimal. */
export function sha256(bytes: Uint8Array): string {
  const state = Int32Array.from(START)
  const blocks = padded(bytes)
  for (let from = 0; from < blocks.byteLength; from += 64) {
    const words = scheduleOf(blocks, from)
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number]
    for (let i = 0; i < 64; i++) {
      const high = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)
      const chosen = (e & f) ^ (~e & g)
      const first = (h + high + chosen + ROUNDS[i]! + words[i]!) | 0
      const low = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)
      const majority = (a & b) ^ (a & c) ^ (b & c)
      h = g
      g = f
      f = e
      e = (d + first) | 0
      d = c
      c = b
      b = a
      a = (first + low + majority) | 0
    }
    for (const [i, word] of [a, b, c, d, e, f, g, h].entries()) state[i] = state[i]! + word
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}
