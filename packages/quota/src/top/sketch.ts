/** Counts side by side, a power of two: a name's place is some bits of its hash. */
const WIDTH = 2_048
const ROWS = 4

/** Two independent texts of 32 bits are made into one for each row (Kirsch and Mitzenmacher, 2006). */
export interface Hash {
  readonly first: number
  readonly second: number
}

/**
 * Counts of any number of names in a fixed room: a count-min sketch (Cormode and Muthukrishnan, 2005) that raises no count
 * further than it has to (Estan and Varghese, 2002). What it tells of a name is never too low, as long as nothing fades.
 */
export class Sketch {
  readonly #cells = new Float64Array(WIDTH * ROWS)

  /** What is counted of a name, other names that share its places included. */
  of(hash: Hash): number {
    let least = Number.POSITIVE_INFINITY
    for (let row = 0; row < ROWS; row++) least = Math.min(least, this.#cells[place(hash, row)]!)
    return least
  }

  /** Makes a name's count at least so much. */
  raiseTo(hash: Hash, amount: number): void {
    for (let row = 0; row < ROWS; row++) {
      const at = place(hash, row)
      if (this.#cells[at]! < amount) this.#cells[at] = amount
    }
  }

  clear(): void {
    this.#cells.fill(0)
  }

  /** @param share what is left of every count */
  fade(share: number): void {
    for (let at = 0; at < this.#cells.length; at++) this.#cells[at]! *= share
  }
}

function place({ first, second }: Hash, row: number): number {
  return row * WIDTH + ((first + Math.imul(row, second)) & (WIDTH - 1))
}
