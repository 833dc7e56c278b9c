import type { UncountedWindow, WindowStatus } from '@scoregw/quota'
import { instantText } from '../http/instant.ts'

type LimitStatus = WindowStatus | UncountedWindow

/** A limit as shown to administrators. `used` is `null` if the decision didn't count it. */
type LimitDocument<W extends LimitStatus> = Pick<
  W,
  'layer' | 'scope' | 'window' | 'kind' | 'limit' | 'burst' | 'used' | 'remaining' | 'enforced'
> & { readonly resetAt: string | null }

export function limitDocument<W extends LimitStatus>(status: W): LimitDocument<W> {
  const { layer, scope, window, kind, limit, burst, used, remaining, enforced, resetAt } = status
  return {
    layer,
    scope,
    window,
    kind,
    limit,
    ...(burst !== undefined && { burst }),
    used,
    remaining,
    resetAt: resetAt === null ? null : instantText(resetAt),
    enforced,
  }
}
