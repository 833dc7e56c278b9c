import * as z from 'zod'

const COMBO = ['none', 'fc', 'fcp', 'ap', 'app'] as const
const SYNC = ['none', 'fs', 'fsp', 'fsd', 'fsdp', 'sync'] as const
/** Other names that clients use. */
const SYNC_ALIASES = { fdx: 'fsd', fdxp: 'fsdp' } as const

/** A status as its name or its number, read as its number. */
function statusSchema(names: readonly string[], aliases: Readonly<Record<string, string>> = {}): z.ZodType<number> {
  const numbers = new Map<unknown, number>(names.flatMap((name, index) => [[name, index] as const, [index, index]]))
  for (const [alias, name] of Object.entries(aliases)) numbers.set(alias, names.indexOf(name))
  const known = [...names, ...Object.keys(aliases)].join(', ')
  return z
    .union([z.string(), z.number()], { error: `expected 0 to ${names.length - 1} or one of ${known}` })
    .transform((value, context) => {
      const number = numbers.get(value)
      if (number !== undefined) return number
      context.addIssue({ code: 'custom', message: `expected 0 to ${names.length - 1} or one of ${known}` })
      return z.NEVER
    })
}

export const comboStatusSchema: z.ZodType<number> = statusSchema(COMBO)
export const syncStatusSchema: z.ZodType<number> = statusSchema(SYNC, SYNC_ALIASES)
