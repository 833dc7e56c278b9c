import { type LongestBlock, mainThreadMs } from './main-thread.ts'
import { type GatewayProcess, startGatewayProcess } from './process.ts'

const PROBE = new URL('./probe.ts', import.meta.url)

export const CREDENTIALS = {
  user: { Authorization: 'Bearer gw_bench-hostile-user' },
  bot: { 'Bot-Token': 'bench-hostile-bot' },
} as const
export const OTHER_USER = { Authorization: 'Bearer gw_bench-other-user' }

/** A gateway in a separate process, on its own embedded database. */
export interface Victim extends Pick<GatewayProcess, 'gatewayUrl' | 'syncUrl' | 'stop'> {
  /** The longest block of its event loop since the last call. */
  longestBlock(): Promise<LongestBlock>
  /** How long its main thread has run, in milliseconds, without the time of other processes. */
  ranMs(): number
}

/** @param env in addition to required variables */
export async function startVictim(env: NodeJS.ProcessEnv = {}): Promise<Victim> {
  const own = {
    BOT_TOKEN: CREDENTIALS.bot['Bot-Token'],
    DEMO_USER_TOKEN: CREDENTIALS.user.Authorization.slice('Bearer '.length),
    DEMO_ADMIN_TOKEN: OTHER_USER.Authorization.slice('Bearer '.length),
  }
  const gateway = await startGatewayProcess({ ...own, ...env }, [`--import=${PROBE.href}`])
  return {
    ...gateway,
    longestBlock: () => gateway.answerTo('longestBlock') as Promise<LongestBlock>,
    ranMs: () => mainThreadMs(gateway.pid),
  }
}
