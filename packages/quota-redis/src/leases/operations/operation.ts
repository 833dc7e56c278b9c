/** The caller of an operation. */
export interface Waiter<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

/** The letter of an operation that touches a row or record that cannot be read. */
export const DAMAGE = 'b'
/** The letter of a take that was admitted earlier. */
export const STORED = 'm'
