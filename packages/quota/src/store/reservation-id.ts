/** A server-side id that makes a repeated reservation harmless. */
export interface ReservationId {
  /** The caller's id, 1 to 256 bytes, together with category and the subject's key in its first own layer. */
  readonly id: string
  /** Tells the holders of one id apart: another text for each reservation handle, in whatever process. */
  readonly nonce: string
  /** What the id was used for; another use of the same id is a conflict. */
  readonly fingerprint: string
  /** How long the record is kept after its last write, in milliseconds. */
  readonly ttlMs: number
}
