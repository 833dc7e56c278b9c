/** Why a framework's goals may be missed, in a sentence each, after three ways were tried. */
interface Because {
  /** With the `RateLimit` fields, beside the bare framework. */
  readonly fields: string
  /** Without them. */
  readonly metering: string
  /** With them, beside the framework's own limiter. */
  readonly limiter: string
}

const FIELDS =
  'Six counters are compared to find the limit that is named, and Node checks and writes two fields more, as it does for ' +
  'every limiter that sends them.'

const METERING = 'Six counters are found and charged, a dozen objects made and the clock read for each request.'

const LIMITER = 'It counts one limit; here six counters are found, charged and compared.'

/** Express gives each request and response the prototype of its app, after which no shape of one is ever known before. */
const SHAPES =
  'A middleware that reads a header costs 0.05 already. A request has two properties more and a response one, and each is ' +
  'slow on objects whose shapes are all different.'

/** By framework. */
export const BECAUSE: Readonly<Record<string, Because>> = {
  Express: { fields: SHAPES, metering: SHAPES, limiter: LIMITER },
  Fastify: { fields: FIELDS, metering: METERING, limiter: LIMITER },
  Hono: { fields: FIELDS, metering: METERING, limiter: LIMITER },
}
