/** Why a framework's goals may be missed, in a sentence each, after three ways were tried. */
interface Because {
  /** With the fields of draft 10, beside the bare framework. */
  readonly fields: string
  /** Without them. */
  readonly metering: string
  /** With them, beside the framework's own limiter. */
  readonly limiter: string
}

const FIELDS =
  'Half of what is ours makes and sends 400 bytes of fields: added to the head as text, parted where numbers stand, in a buffer.'

const METERING =
  'Six counters found and charged, a dozen objects and a look at the clock a request: states made late, arrays copied in ' +
  'place of filled, and one look for a route in place of two are in it.'

const LIMITER = 'It counts one limit and tells three numbers; six limits and their names are 400 bytes.'

/** Express gives each request and response the prototype of its app, after which no look at one is ever known before. */
const SHAPES =
  'A middleware that reads a header costs 0.05 already, and each look at a request of Express is a look-up: one hook on its ' +
  'prototypes, quotas off the request and prepared texts are in it.'

/** By framework. */
export const BECAUSE: Readonly<Record<string, Because>> = {
  Express: { fields: SHAPES, metering: SHAPES, limiter: LIMITER },
  Fastify: { fields: FIELDS, metering: METERING, limiter: LIMITER },
  Hono: { fields: FIELDS, metering: METERING, limiter: LIMITER },
}
