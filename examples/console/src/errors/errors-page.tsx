import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Adaptive, Failures } from '../api/api.ts'
import { useApi } from '../session.ts'
import { Loaded } from '../ui/loaded.tsx'
import { useInterval } from '../ui/use-interval.ts'
import { useResource } from '../ui/use-resource.ts'
import { useWords } from '../words/words.ts'
import { BucketTable } from './bucket-table.tsx'
import { ErrorChart } from './error-chart.tsx'
import { factorSteps } from './factor-line.ts'
import { FactorNow, Moves } from './moves.tsx'

/** Every minute the factor is judged anew. */
const REFRESH_MS = 60_000

/** How requests ended over the last week, and what the adaptive factor made of it. */
export function ErrorsPage(): JSX.Element {
  const words = useWords()
  const api = useApi()
  const report = useResource(async () => {
    const [failures, adaptive] = await Promise.all([api.failures(), api.adaptive()])
    return { failures, adaptive }
  }, [api])
  useInterval(report.reload, REFRESH_MS)
  return (
    <>
      <h1>{words.failures.title}</h1>
      <p class="quiet">{words.failures.about}</p>
      <Loaded resource={report} lines={24}>
        {(data) => <Report {...data} />}
      </Loaded>
    </>
  )
}

function Report({ failures, adaptive }: { failures: Failures; adaptive: Adaptive }): JSX.Element {
  const words = useWords()
  const steps = useMemo(() => factorSteps(adaptive, Date.parse(failures.since) / 1_000), [failures, adaptive])
  return (
    <>
      {failures.summary.calls === 0 && <p class="empty">{words.failures.none}</p>}
      <ErrorChart failures={failures} steps={steps} />
      <BucketTable failures={failures} steps={steps} />
      <FactorNow adaptive={adaptive} />
      <Moves moves={adaptive.history} />
    </>
  )
}
