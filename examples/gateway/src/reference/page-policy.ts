import type { RequestHandler } from 'express'
import helmet from 'helmet'
import type { Addresses } from '../addresses.ts'

/** The page runs and shows its own files and calls the three services, no other server; no page may frame it. */
export function pagePolicy(addresses: () => Addresses): RequestHandler {
  return helmet.contentSecurityPolicy({
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      // Swagger UI styles elements by their properties, which needs no permission.
      styleSrc: ["'self'"],
      // Swagger UI's icons; pictures that were answered.
      imgSrc: ["'self'", 'data:'],
      connectSrc: ["'self'", () => originsOf(addresses()).join(' ')],
      baseUri: ["'none'"],
      formAction: ["'none'"],
      frameAncestors: ["'none'"],
    },
  })
}

function originsOf(addresses: Addresses): string[] {
  return [...new Set(Object.values(addresses).map((address) => new URL(address).origin))]
}
