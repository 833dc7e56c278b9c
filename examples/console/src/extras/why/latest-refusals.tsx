import type { JSX } from 'preact'
import { useApi } from '../../session.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { Text } from '../../ui/text.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { When } from '../../ui/when.tsx'
import { useNames } from '../../words/names.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { hrefOfQuestion } from './question.ts'
import { latestRefusals, type RefusalGroup } from './why-api.ts'
import { useWhyWords } from './words.ts'

/** The counted time, up to the gateway's now. */
const HOUR_MS = 3_600_000

export function LatestRefusals(): JSX.Element {
  const words = useWords()
  const why = useWhyWords()
  const api = useApi()
  const latest = useResource(() => latestRefusals(api), [api])
  return (
    <section aria-labelledby="lately" class="lately">
      <div class="card-head">
        <h2 id="lately">{why.lately}</h2>
        <button type="button" onClick={latest.reload}>
          {words.reload}
        </button>
      </div>
      <Loaded resource={latest} lines={4}>
        {({ since, refusals }) =>
          refusals.length === 0 ? (
            <p class="empty">{why.nobodyLately}</p>
          ) : (
            <List refusals={refusals} now={Date.parse(since) + HOUR_MS} />
          )
        }
      </Loaded>
    </section>
  )
}

function List({ refusals, now }: { refusals: readonly RefusalGroup[]; now: number }): JSX.Element {
  const why = useWhyWords()
  const names = useNames()
  const formats = useFormats()
  return (
    <ul class="plain">
      {refusals.map(({ userId, operation, layer, category, window, count, lastAt }) => {
        const limit = names.cell(layer, category, window)
        return (
          <li key={JSON.stringify([userId, operation, layer, category, window])}>
            <a
              class="refusal"
              href={hrefOfQuestion({
                user: userId,
                operation,
                whatIf: 'nothing',
                limit: '',
                tokens: '',
                mode: '',
                days: '7',
              })}
            >
              <strong>
                <Text>{userId}</Text>
              </strong>
              <span class="ending refused">{limit}</span>
              <span class="mono">{operation}</span>
              <span class="number">{why.times(formats.number(count))}</span>
              <span class="quiet small">
                <When at={lastAt} now={now} />
              </span>
            </a>
          </li>
        )
      })}
    </ul>
  )
}
