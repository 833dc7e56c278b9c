import type { RequestHandler } from 'express'
import helmet from 'helmet'

export interface SecurityOptions {
  /** The address clients use, if it is known. */
  readonly publicBaseUrl: string | undefined
}

/** Header fields that keep browsers from doing with an answer what it is not made for. */
export function securityHeaders({ publicBaseUrl }: SecurityOptions): RequestHandler {
  return helmet({
    // Answers are data: nothing is loaded, run or framed.
    contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
    strictTransportSecurity: publicBaseUrl?.startsWith('https:') === true,
  })
}
