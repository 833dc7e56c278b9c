/** A service refused a request. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** The body of an error: the gateway and score sync have `msg`, the chart preview has `message`. */
interface ErrorBody {
  readonly msg?: string
  readonly message?: string
  readonly details?: readonly { readonly path: string; readonly msg: string }[]
}

/**
 * The body of a success.
 * @throws {Refused} for every other answer
 */
export function dataOf<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (response.ok && data !== undefined) return data
  const { msg, message, details = [] } = (error ?? {}) as ErrorBody
  const faults = details.map(({ path, msg: fault }) => `\n  ${path}: ${fault}`).join('')
  throw new Refused(response.status, `${msg ?? message ?? 'No reason was given.'} (HTTP ${response.status})${faults}`)
}
