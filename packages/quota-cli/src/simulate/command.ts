import { createWriteStream, type WriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import type { Policy } from '@scoregw/quota'
import { type Unit, unitName } from '../amounts.ts'
import { CliError, EXIT, type ExitCode, usageError } from '../cli-error.ts'
import { fileError } from '../files.ts'
import type { Io } from '../io.ts'
import { readPolicy } from '../policy-file.ts'
import { plain } from '../text.ts'
import { type Mapping, type MappingInput, mappingOf, namedFields } from './mapping.ts'
import { printed } from './print.ts'
import { type ReadLog, readLog } from './read-log.ts'
import { ownLayers } from './replay.ts'
import { report } from './report.ts'
import type { NamedPolicy, Simulation } from './result.ts'
import { type RefusalListener, type Replaying, simulate } from './simulate.ts'

export interface SimulateOptions extends MappingInput {
  /** The file of the policy. */
  readonly policy: string
  /** The file of another policy. */
  readonly against?: string
  /** A file that maps lines to requests. */
  readonly map?: string
  /** How many subjects to list. */
  readonly top: number
  readonly maxLines: number
  /** The file for an HTML report. */
  readonly html?: string
  /** The file for all refusals, one line of JSON each. */
  readonly refusals?: string | undefined
  readonly json?: boolean
}

/** Replays logs through policies, and prints what they would have refused. */
export async function simulateLogs(
  logs: readonly string[],
  { policy: policyFile, against, map, top, maxLines, html, refusals, json = false, ...input }: SimulateOptions,
  io: Io,
): Promise<ExitCode> {
  const files = against === undefined ? [policyFile] : [policyFile, against]
  const policies: NamedPolicy[] = []
  for (const file of files) policies.push({ file, policy: await readPolicy(file) })
  const operations = [...new Set(policies.flatMap(({ policy }) => Object.keys(policy.operations)))]
  const units = unitsOf(policies)
  const mapping = await mappingOf(input, map)
  checkCost(units.map(unitName), mapping)
  for (const { policy, file } of policies) checkSubject(policy, file, mapping)
  const read = await readLog(logs, { operations, units, mapping, maxLines }, io)
  if (io.signal.aborted) return EXIT.found
  checkRead(read)
  const simulation = await simulated({ logs, read, policies, top, io }, refusals)
  if (io.signal.aborted) return EXIT.found
  if (html !== undefined) await write(html, report(simulation))
  io.out(json ? `${JSON.stringify(simulation, undefined, 2)}\n` : printed(simulation, io))
  if (html !== undefined && !json) io.out(`\nreport written to ${plain(html, 200)}\n`)
  if (read.log.events.length > 0) return EXIT.ok
  io.err('quota-cli: the log contains no requests\n')
  return EXIT.found
}

/** The units that some policy counts, each once. */
function unitsOf(policies: readonly NamedPolicy[]): readonly Unit[] {
  const byName = new Map(policies.flatMap(({ policy }) => policy.units.map((unit) => [unitName(unit), unit] as const)))
  return [...byName.values()]
}

/** A policy with several layers per subject needs a key for each of them. */
function checkSubject(policy: Policy, file: string, mapping: Mapping): void {
  const own = ownLayers(policy)
  const mapped = namedFields(mapping.subject).map(([layer]) => layer)
  const missing = own.filter((layer) => !mapped.includes(layer))
  if (missing.length === 0 || (mapped.length === 0 && own.length < 2)) return
  const remedy = `--subject ${own.map((layer) => `${layer}=FIELD`).join(',')}`
  throw usageError(`${plain(file, 200)} needs a key for each of ${own.join(', ')}`, remedy)
}

/** Costs in several units need a field per unit. */
function checkCost(units: readonly string[], { cost }: Mapping): void {
  const named = namedFields(cost).map(([unit]) => unit)
  const unknown = named.find((unit) => !units.includes(unit))
  const isPlain = cost !== undefined && named.length === 0
  if (unknown === undefined && !(isPlain && units.length > 1)) return
  const remedy = `--cost ${units.map((unit) => `${unit}=FIELD`).join(',')}`
  const message = unknown === undefined ? 'the policies count several units' : `no policy counts "${plain(unknown)}"`
  throw usageError(message, remedy)
}

function checkRead({ unknown }: ReadLog): void {
  const [first] = unknown
  if (first !== undefined) throw usageError(`a route maps to "${plain(first)}", an operation that no policy has`)
}

/** @param refusals the file for all refusals */
async function simulated(replaying: Replaying, refusals: string | undefined): Promise<Simulation> {
  if (refusals === undefined) return simulate(replaying)
  const file = createWriteStream(refusals)
  // Listens from the beginning; the result is only needed at the end.
  const written = finished(file).catch((error: unknown) => fileError('write', refusals, error))
  const simulation = await simulate({ ...replaying, onRefusal: toFile(file, replaying.read) })
  file.end()
  const failed = await written
  if (failed instanceof CliError) throw failed
  return simulation
}

function toFile(file: WriteStream, { log }: ReadLog): RefusalListener {
  return (policy, { line, subject }, { now, operation, cost, refusedBy, resetAt, retryable }) => {
    const { name, unit, limit, used } = refusedBy
    const request = { policy, line, at: now, subject: log.subjects[subject], operation, cost }
    file.write(`${JSON.stringify({ ...request, refusedBy: { name, unit, limit, used }, resetAt, retryable })}\n`)
  }
}

async function write(path: string, text: string): Promise<void> {
  await writeFile(path, text).catch((error: unknown) => {
    throw fileError('write', path, error)
  })
}
