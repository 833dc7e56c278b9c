import type { Config } from './config/config.ts'

/** The addresses and ports that each service is bound to. */
export interface Ports {
  readonly gateway: number
  readonly sync: number
  readonly charts: number
}

/** The services' URLs for clients, without a trailing slash. */
export type Addresses = Readonly<Record<keyof Ports, string>>

export function addressesOf(config: Config, ports: Ports): Addresses {
  const local = (port: number): string => `http://${hostOf(config.HOST)}:${port}`
  return {
    gateway: config.PUBLIC_BASE_URL ?? local(ports.gateway),
    sync: config.PUBLIC_SYNC_URL ?? local(ports.sync),
    charts: config.PUBLIC_CHARTS_URL ?? local(ports.charts),
  }
}

/** A host for people. An address that means all interfaces is replaced with this machine's own. */
function hostOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}
