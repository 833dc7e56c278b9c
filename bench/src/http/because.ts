/** Why a framework's goals may be missed, in a sentence each, after three ways were tried. */
interface Because {
  readonly fields: string
  readonly metering: string
  readonly limiter: string
}
/** By framework. */
export const BECAUSE: Readonly<Record<string, Because>> = {}
