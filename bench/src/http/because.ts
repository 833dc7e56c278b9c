/** Why a framework's goals may be missed, one sentence each, after three attempts. */
interface Because {
  /** With the `RateLimit` fields, compared with the bare framework. */
  readonly fields: string
  /** Without them. */
  readonly metering: string
  /** With them, compared with the framework's usual limiter. */
  readonly limiter: string
}

const FIELDS =
  'Six counters are compared to find the limit that is named, and Node checks and writes two fields more, as it does for ' +
  'every limiter that sends them.'

const METERING = 'Six counters are found and charged, a dozen objects made and the clock read for each request.'

const LIMITER = 'It counts one limit; here six counters are found, charged and compared.'

/** Express replaces the prototype of each request and response by its app's, so the engine never knows their shapes. */
const SHAPES =
  'A middleware that reads a header costs 0.05 already. A request has two properties more and a response one, and each is ' +
  'slow on objects whose shapes are all different.'

/** By framework. */
export const BECAUSE: Readonly<Record<string, Because>> = {
  Express: { fields: SHAPES, metering: SHAPES, limiter: LIMITER },
  Fastify: { fields: FIELDS, metering: METERING, limiter: LIMITER },
  Hono: { fields: FIELDS, metering: METERING, limiter: LIMITER },
}
