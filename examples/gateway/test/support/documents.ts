import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Ports } from '../../src/addresses.ts'
import { loadConfig } from '../../src/config/config.ts'
import { startGateway } from '../../src/gateway.ts'
import { createLogger } from '../../src/log/logger.ts'
import { Contract, type Exchange } from './contract.ts'
import type { Json } from './json-schema.ts'

export type Service = keyof Ports

interface Served {
  readonly document: Json
  readonly contract: Contract
}

/**
 * Holds an answer of a service against the document that the service serves. Services without a document promise
 * nothing yet.
 *
 * @throws {Error} when the document does not describe it
 */
export async function checkAnswer(service: Service, exchange: Exchange): Promise<void> {
  const { contract } = (await served()).get(service) ?? {}
  contract?.check(exchange)
}

/** Holds an answer against what was promised. */
export type Check = (exchange: Exchange) => Promise<void>

/** Against the document that a gateway serves itself, which is requested when the first answer has come. */
export function ownContract(baseUrl: string): Check {
  let contract: Promise<Contract> | undefined
  const read = async (): Promise<Contract> =>
    new Contract((await (await fetch(`${baseUrl}/openapi.json`)).json()) as Json)
  return async (exchange) => {
    contract ??= read()
    ;(await contract).check(exchange)
  }
}

/** The document that a service serves. */
export async function documentOf(service: Service): Promise<Json> {
  const { document } = (await served()).get(service) ?? {}
  if (document === undefined) throw new Error(`${service} serves no document`)
  return document
}

let known: Promise<ReadonlyMap<Service, Served>> | undefined

function served(): Promise<ReadonlyMap<Service, Served>> {
  known ??= readDocuments()
  return known
}

/** Reads them from a gateway of their own, so that a test's log and counts have no trace of that. */
async function readDocuments(): Promise<ReadonlyMap<Service, Served>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-documents-'))
  const env = { PORT: '0', SYNC_PORT: '0', CHARTS_PORT: '0', DATA_DIR: dataDir }
  const gateway = await startGateway(loadConfig(env), createLogger('silent'))
  try {
    const services = Object.entries(gateway.ports) as [Service, number][]
    const read = await Promise.all(
      services.map(async ([service, port]) => {
        const response = await fetch(`http://127.0.0.1:${port}/openapi.json`)
        if (!response.ok) return []
        const document = (await response.json()) as Json
        return [[service, { document, contract: new Contract(document) }]] as const
      }),
    )
    return new Map(read.flat())
  } finally {
    await gateway.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
