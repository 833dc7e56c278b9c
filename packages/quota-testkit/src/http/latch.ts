/** A promise with its ends in hand. */
export interface Latch {
  readonly promise: Promise<void>
  open(): void
}

export function latch(): Latch {
  let open!: () => void
  const promise = new Promise<void>((resolve) => {
    open = resolve
  })
  return { promise, open }
}
