import { ipSubject } from '@scoregw/quota/http'
import type { Request } from 'express'
import { contextOf } from './request-context.ts'

/** Who sends a request, as a key: whose credential it has, else the network that it comes from. */
export function callerKey(req: Request): string {
  const { user, holder } = contextOf(req)
  if (user !== undefined) return `user:${user.id}`
  if (holder !== undefined) return `holder:${holder.id}`
  return ipSubject(req.ip ?? '') ?? 'ip:'
}
