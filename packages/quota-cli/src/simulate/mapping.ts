import { DateTime } from 'luxon'
import { usageError } from '../cli-error.ts'
import { parseJson, readText } from '../files.ts'
import { plain } from '../text.ts'

/** How lines become requests. Command-line options override the file of `--map`. */
export interface Mapping {
  readonly format: 'auto' | 'ndjson' | 'common'
  /** Name of the field, with dots for nested ones; `undefined` to try the usual names. */
  readonly time?: string | undefined
  /** The same, or `layer=field,layer=field` for a subject with a key per layer. */
  readonly subject?: string | undefined
  readonly operation?: string | undefined
  /** The same, or `unit=field,unit=field` for costs in several units. */
  readonly cost?: string | undefined
  readonly plan?: string | undefined
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly status?: string | undefined
  readonly routes: readonly string[]
  /** Requests with this status or higher, except 429, got their tokens back. */
  readonly refundFrom?: number | undefined
  /** The zone of times without one. */
  readonly timeZone: string
}

export type MappingInput = { readonly [K in keyof Mapping]?: Mapping[K] | undefined }

const FIELDS = ['time', 'subject', 'operation', 'cost', 'plan', 'method', 'path', 'status'] as const
const OTHERS = ['format', 'routes', 'refundFrom', 'timeZone'] as const
const NAMES: readonly string[] = [...FIELDS, ...OTHERS]
const FORMATS = ['auto', 'ndjson', 'common'] as const

/** @throws {CliError} `usage` naming the first invalid option */
export async function mappingOf(options: MappingInput, mapFile: string | undefined): Promise<Mapping> {
  const inFile = mapFile === undefined ? {} : await readMap(mapFile)
  const { routes = inFile.routes ?? [], ...given } = options
  const merged = { format: 'auto', timeZone: 'UTC', ...inFile, ...defined(given), routes } as Mapping
  checkMapping(merged)
  return merged
}

/** The names and fields in `name=field,name=field`, for keys of layers or amounts of units; otherwise empty. */
export function namedFields(text: string | undefined): (readonly [name: string, field: string])[] {
  if (text?.includes('=') !== true) return []
  return text.split(',').map((each) => {
    const [name = '', field = ''] = each.split('=')
    return [name.trim(), field.trim()]
  })
}

function defined(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

async function readMap(path: string): Promise<MappingInput> {
  const document = parseJson(path, await readText(path))
  if (typeof document !== 'object' || document === null || Array.isArray(document)) {
    throw usageError(`${plain(path, 200)} is not an object with ${NAMES.join(', ')}`)
  }
  const unknown = Object.keys(document).find((name) => !NAMES.includes(name))
  if (unknown !== undefined) {
    throw usageError(`${plain(path, 200)}: unknown "${plain(unknown)}"; known are ${NAMES.join(', ')}`)
  }
  return document
}

function checkMapping(mapping: Mapping): void {
  for (const name of FIELDS) {
    const value: unknown = mapping[name]
    if (value !== undefined && (typeof value !== 'string' || value === ''))
      throw usageError(`${name}: not a field's name`)
  }
  const { format, routes, refundFrom, timeZone } = mapping
  if (!FORMATS.includes(format))
    throw usageError(`format: expected ${FORMATS.join(', ')}, got "${plain(String(format))}"`)
  if (!Array.isArray(routes) || routes.some((route) => typeof route !== 'string'))
    throw usageError('routes: not a list of texts')
  if (refundFrom !== undefined && !(Number.isSafeInteger(refundFrom) && refundFrom >= 100 && refundFrom <= 599)) {
    throw usageError('refund-from: expected a status from 100 to 599')
  }
  if (typeof timeZone !== 'string' || !DateTime.utc().setZone(timeZone).isValid) {
    throw usageError(`time-zone: expected a zone, "Asia/Shanghai" or "+08:00", got "${plain(String(timeZone))}"`)
  }
}
