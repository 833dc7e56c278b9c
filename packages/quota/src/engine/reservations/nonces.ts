/** Makes the texts that tell the holders of one reservation id apart, no two of them alike in any process. */
export interface Nonces {
  /** For a reservation that is settled by its own handle alone: nobody but the store ever sees it. */
  readonly ofId: () => string
  /** For a hold, whose token it is a part of: nobody can guess it. */
  readonly ofHold: () => string
}

/** @param createNonce what the caller makes nonces with, if not the default of each kind */
export function noncesBy(createNonce: (() => string) | undefined): Nonces {
  return { ofId: createNonce ?? numbered(), ofHold: createNonce ?? (() => crypto.randomUUID()) }
}

/** Of numbers of one length: stores decide alike what is written alike. */
const DIGITS = 9

/** Numbers after 128 bits of the engine's own: random bits for each would cost more than all the rest of a reservation. */
function numbered(): () => string {
  let own = ''
  let count = 0
  return () => {
    // At the first use: some runtimes give nothing random to modules that are being loaded.
    if (own === '') own = `${crypto.randomUUID().replaceAll('-', '')}.`
    return `${own}${(count++).toString(36).padStart(DIGITS, '0')}`
  }
}
