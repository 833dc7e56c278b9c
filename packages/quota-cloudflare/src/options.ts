import { type Check, having, textLike } from '@scoregw/quota/internal'
import type { QuotaNamespace } from './calls.ts'

export function aNamespace(): Check<QuotaNamespace> {
  return having<QuotaNamespace>(['idFromName', 'get'], 'the binding of a Durable Object, such as env.QUOTA')
}

export function aPrefix(): Check<string> {
  return textLike(/^[\w.:-]{1,100}$/, '1 to 100 of `A-Z a-z 0-9 _ . : -`')
}
