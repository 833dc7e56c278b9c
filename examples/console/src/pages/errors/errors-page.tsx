import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Adaptive, Failures } from '../../api/api.ts'
import { goTo, hrefOf, useRoute } from '../../route.ts'
import { useApi } from '../../session.ts'
import { Choice } from '../../ui/choice.tsx'
import { useInterval } from '../../ui/hooks.ts'
import { Loaded } from '../../ui/loaded.tsx'
import { useResource } from '../../ui/use-resource.ts'
import { useFormats, useWords } from '../../words/words.ts'
import { BucketTable } from './bucket-table.tsx'
import { ErrorChart } from './error-chart.tsx'
import { FailedLevel } from './failed-level.tsx'
import { FactorNow, Moves } from './moves.tsx'
import { RANGE_NAMES, RANGES, type RangeName, rangeNamed } from './ranges.ts'
import { factorSteps } from './readout.tsx'

/** As often as the gateway reviews the factor. */
const REFRESH_MS = 60_000

interface ReportProps {
  readonly range: RangeName
  readonly failures: Failures
  readonly adaptive: Adaptive
}

export function ErrorsPage(): JSX.Element {
  const { failures: words } = useWords()
  const formats = useFormats()
  const api = useApi()
  const range = rangeNamed(useRoute().query.range)
  const { days, bucketMinutes } = RANGES[range]
  const report = useResource(async (): Promise<ReportProps> => {
    const [failures, adaptive] = await Promise.all([api.failures(days, bucketMinutes), api.adaptive()])
    return { range, failures, adaptive }
  }, [api, range])
  useInterval(report.reload, REFRESH_MS)
  return (
    <>
      <h1>{words.title}</h1>
      <p class="quiet">{words.about(formats.number(bucketMinutes))}</p>
      <Choice
        label={words.range}
        options={RANGE_NAMES.map((name) => ({ value: name, text: words.ranges[name] }))}
        chosen={range}
        onChoose={(name) => goTo(hrefOf('errors', undefined, { range: name }))}
      />
      <Loaded resource={report} lines={24}>
        {(data) => <Report {...data} />}
      </Loaded>
    </>
  )
}

function Report({ range, failures, adaptive }: ReportProps): JSX.Element {
  const { failures: words } = useWords()
  const steps = useMemo(() => factorSteps(adaptive, Date.parse(failures.since) / 1_000), [failures, adaptive])
  return (
    <>
      {failures.summary.calls === 0 && <p class="empty">{words.none}</p>}
      <ErrorChart failures={failures} steps={steps} title={words.totals[range]} />
      <BucketTable failures={failures} steps={steps} />
      <FactorNow adaptive={adaptive} />
      <FailedLevel failed={adaptive.preview.failed} />
      <Moves moves={adaptive.history} />
    </>
  )
}
