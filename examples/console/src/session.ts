import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { Api } from './api/api.ts'
import type { Policy } from './api/documents.ts'
import type { Drafts } from './drafts.ts'
import type { Extra } from './extras/extra.ts'

export interface Session {
  readonly api: Api
  readonly policy: Policy
  readonly extras: readonly Extra[]
  readonly drafts: Drafts
}

export const SessionContext: ReturnType<typeof createContext<Session | undefined>> = createContext<Session | undefined>(
  undefined,
)

/** The API with the administrator's token. Use it only in components that are shown after the sign-in. */
export function useApi(): Api {
  return useSession().api
}

export function usePolicy(): Policy {
  return useSession().policy
}

export function useExtras(): readonly Extra[] {
  return useSession().extras
}

/** Makes the address that explains refusals. `undefined` if the gateway has no such page. */
export function useRefusalsHref(): Extra['refusalsHref'] {
  return useExtras().find(({ refusalsHref }) => refusalsHref)?.refusalsHref
}

export function useDrafts(): Drafts {
  return useSession().drafts
}

function useSession(): Session {
  const session = useContext(SessionContext)
  if (session === undefined) throw new Error('nobody has signed in')
  return session
}
