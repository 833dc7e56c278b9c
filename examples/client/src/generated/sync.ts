// Written by `npm run client:types`: do not edit.

export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the process is alive
         * @description For process supervisors. It contacts no store.
         *
         *     Free.
         */
        get: operations["alive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the stores are available
         * @description For load balancers: 503 while a store is unavailable, and while the service is stopping.
         *
         *     Free.
         */
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bot/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Report a player's scores, in one request or in the chunks of a snapshot
         * @description Free.
         */
        post: operations["sync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bot/sync/{snapshotId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Which chunks of a snapshot have arrived
         * @description Free.
         */
        get: operations["readSnapshot"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bot/player/{qq}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Stored scores of a player
         * @description Free.
         */
        get: operations["readPlayer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bot/player/{qq}/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The same without the records
         * @description Free.
         */
        get: operations["summarizePlayer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/bot/player/{qq}/trend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History of a player's rating
         * @description One point per day in Beijing with a sync. The list may be empty.
         *
         *     Free.
         */
        get: operations["readTrend"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document
         * @description OpenAPI 3.1, for reference pages and client generators.
         *
         *     Free.
         */
        get: operations["openApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        SyncBody: {
            qq: number;
            /** @description Cut to 64 characters. Line breaks become spaces. */
            nickname?: string | null;
            source?: string | null;
            /** @description The player's total. Default: the sum of `old_rating` and `new_rating`. */
            rating?: number | null;
            /** @description The part of the best 35 of older versions. */
            old_rating?: number | null;
            /** @description The part of the best 15 of the newest version. */
            new_rating?: number | null;
            play_count?: number | null;
            records: components["schemas"]["SyncRecord"][];
            full_snapshot?: boolean | null;
            snapshot_id?: string | null;
            snapshot_final?: boolean | null;
            chunk_index?: number | null;
            chunk_total?: number | null;
            checksum?: string | null;
        };
        /** @description A record in the form of Diving-Fish. Other members are ignored. */
        SyncRecord: {
            song_id?: number;
            level_index?: number;
            achievements?: number;
            dxScore?: number;
            fc?: string;
            fs?: string;
        };
        AliveAnswer: {
            /** @constant */
            status: "alive";
        };
        ReadyAnswer: {
            /** @constant */
            status: "ready";
        };
        SyncAnswer: {
            /** @enum {string} */
            status: "partial" | "ok";
            snapshot_id: string | null;
            imported: number;
            updated: number;
            skipped: number;
            /** @description The player's number of scores. */
            stored_records: number;
            errors: {
                index: number;
                path: string;
                msg: string;
            }[];
        };
        ReadSnapshotAnswer: {
            snapshot_id: string;
            qq: number;
            /** @enum {string} */
            status: "partial" | "ok" | "expired";
            full_snapshot: boolean;
            chunk_total: number | null;
            chunks: {
                chunk_index: number | null;
                checksum: string;
            }[];
            missing: number[];
            expires_at: string | null;
        };
        ReadPlayerAnswer: {
            qq: number;
            linked: boolean;
            /** @description Name of the linked account; `null`: none. */
            username: string | null;
            nickname: string | null;
            source: string | null;
            /** @description The total. */
            rating: number | null;
            /** @description The part of the best 35 of older versions. */
            old_rating: number | null;
            /** @description The part of the best 15 of the newest version. */
            new_rating: number | null;
            play_count: number | null;
            stored_records: number;
            /** @description The same as `stored_records`. */
            record_count: number;
            open_snapshot_id: string | null;
            synced_at: string | null;
            records: {
                song_id: number;
                level_index: number;
                achievements: number;
                dxScore: number;
                fc: string;
                fs: string;
                /** @description `null`: the chart is unknown. */
                title: string | null;
                /** @description `null` for utage. */
                type: ("SD" | "DX") | null;
                /** @description As players write it, such as `13+`; `null`: unknown. */
                level: string | null;
                level_label: string;
                /** @description The exact difficulty; `null`: unknown. */
                ds: number | null;
                /** @description Its part of a rating; `null` without `ds`, and for utage. */
                ra: number | null;
                /** @description Its rank, `d` to `sssp`. */
                rate: string;
            }[];
        };
        SummarizePlayerAnswer: {
            qq: number;
            nickname: string | null;
            /** @description The total. */
            rating: number | null;
            /** @description The part of the best 35 of older versions. */
            old_rating: number | null;
            /** @description The part of the best 15 of the newest version. */
            new_rating: number | null;
            record_count: number;
            last_sync_at: string | null;
        };
        ReadTrendAnswer: {
            qq: number;
            nickname: string | null;
            days: number;
            points: {
                /** Format: date */
                date: string;
                /** @description The total. */
                rating: number | null;
                /** @description The part of the best 35 of older versions. */
                old_rating: number | null;
                /** @description The part of the best 15 of the newest version. */
                new_rating: number | null;
                record_count: number;
                /** @description The change since the previous point; 0 if either is unknown. */
                delta: number;
            }[];
            summary: {
                start_rating: number | null;
                end_rating: number | null;
                /** @description The change from the first point to the last; 0 if either is unknown. */
                rating_delta: number;
                days_with_data: number;
            };
        };
        OpenApiAnswer: {
            openapi: string;
        } & {
            [key: string]: unknown;
        };
        /** @description What went wrong. */
        Error: {
            /**
             * @description What went wrong, for programs.
             * @enum {string}
             */
            error: "bad_request" | "unauthorized" | "forbidden" | "user_disabled" | "insufficient_balance" | "not_found" | "score_not_found" | "method_not_allowed" | "conflict" | "sync_in_progress" | "chunk_conflict" | "snapshot_open" | "snapshot_incomplete" | "snapshot_expired" | "session_expired" | "precondition_failed" | "payload_too_large" | "unsupported_media_type" | "validation_failed" | "idempotency_key_reused" | "unknown_chart" | "dx_score_too_high" | "source_credential_rejected" | "source_privacy" | "snapshot_empty" | "checksum_mismatch" | "precondition_required" | "quota_exceeded" | "internal_error" | "source_unreachable" | "source_bad_response" | "source_error" | "source_rate_limited" | "quota_unavailable" | "overloaded" | "player_busy" | "shutting_down" | "source_timeout";
            /** @description What went wrong, for people. */
            msg: string;
            /** @description The same as `msg`. */
            detail: string;
            /** @description The request's id in our log. */
            requestId: string;
            /** @description All faults of the request, by dotted path. */
            details?: {
                path: string;
                msg: string;
            }[];
            /** @description With `snapshot_incomplete`: the chunks that have not arrived. */
            missing?: number[];
            /** @description Whole seconds to wait before retrying. */
            retryAfterSeconds?: number;
        };
    };
    responses: {
        /** @description `bad_request`: The request is malformed, for example invalid JSON. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "bad_request";
                };
            };
        };
        /** @description `internal_error`: Something went wrong on our side. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "internal_error";
                };
            };
        };
        /**
         * @description `overloaded`: Too many requests of the caller are in flight. Nothing was charged.
         *
         *     `shutting_down`: The service is stopping. Another process may be available soon.
         */
        OverloadedOrShuttingDown: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "overloaded" | "shutting_down";
                };
            };
        };
        /**
         * @description `quota_unavailable`: A required store is unavailable. Nothing was charged.
         *
         *     `overloaded`: Too many requests of the caller are in flight. Nothing was charged.
         *
         *     `shutting_down`: The service is stopping. Another process may be available soon.
         */
        QuotaUnavailableOrOverloadedOrShuttingDown: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "quota_unavailable" | "overloaded" | "shutting_down";
                };
            };
        };
        /** @description `unauthorized`: The credential is missing or invalid. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "unauthorized";
                };
            };
        };
        /**
         * @description `chunk_conflict`: The chunk differs from an earlier one with its index, or does not fit its snapshot.
         *
         *     `snapshot_open`: Another snapshot of the player is open.
         *
         *     `snapshot_incomplete`: The final chunk arrived before others: `missing` lists them.
         *
         *     `snapshot_expired`: The snapshot has expired. Send it again with a new id.
         */
        ChunkConflictOrSnapshotOpenOrSnapshotIncompleteOrSnapshotExpired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "chunk_conflict" | "snapshot_open" | "snapshot_incomplete" | "snapshot_expired";
                };
            };
        };
        /** @description `payload_too_large`: The body is too large. */
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "payload_too_large";
                };
            };
        };
        /** @description `unsupported_media_type`: The body's type is not `application/json`. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "unsupported_media_type";
                };
            };
        };
        /**
         * @description `validation_failed`: The content is invalid. `details` lists all faults.
         *
         *     `snapshot_empty`: The whole snapshot has no valid record. Nothing was deleted.
         *
         *     `checksum_mismatch`: The records do not match the checksum.
         */
        ValidationFailedOrSnapshotEmptyOrChecksumMismatch: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "validation_failed" | "snapshot_empty" | "checksum_mismatch";
                };
            };
        };
        /**
         * @description `quota_unavailable`: A required store is unavailable. Nothing was charged.
         *
         *     `overloaded`: Too many requests of the caller are in flight. Nothing was charged.
         *
         *     `player_busy`: Another write of the player is in progress. Send the same request again.
         *
         *     `shutting_down`: The service is stopping. Another process may be available soon.
         */
        QuotaUnavailableOrOverloadedOrPlayerBusyOrShuttingDown: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "quota_unavailable" | "overloaded" | "player_busy" | "shutting_down";
                };
            };
        };
        /** @description `not_found`: This path does not exist. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "not_found";
                };
            };
        };
        /** @description `conflict`: The request conflicts with stored data, or with another request in progress. */
        Conflict: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /** @description Whole seconds to wait before retrying. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "conflict";
                };
            };
        };
        /** @description `validation_failed`: The content is invalid. `details` lists all faults. */
        ValidationFailed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "validation_failed";
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The request's id in our log: the one that the client sent, or a new one. */
        "X-Request-Id": string;
        /** @description Whole seconds to wait before retrying. */
        "Retry-After": number;
        /** @description The required credential. */
        "WWW-Authenticate": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    alive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AliveAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["OverloadedOrShuttingDown"];
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadyAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    sync: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "qq": 10001,
                 *       "nickname": "demo",
                 *       "rating": 14210,
                 *       "old_rating": 10100,
                 *       "new_rating": 4110,
                 *       "records": [
                 *         {
                 *           "song_id": 10106,
                 *           "level_index": 3,
                 *           "achievements": 100.5,
                 *           "dxScore": 2871,
                 *           "fc": "fc",
                 *           "fs": "fs"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["SyncBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["ChunkConflictOrSnapshotOpenOrSnapshotIncompleteOrSnapshotExpired"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailedOrSnapshotEmptyOrChecksumMismatch"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrPlayerBusyOrShuttingDown"];
        };
    };
    readSnapshot: {
        parameters: {
            query?: {
                qq?: string;
            };
            header?: never;
            path: {
                snapshotId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadSnapshotAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    readPlayer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                qq: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadPlayerAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    summarizePlayer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                qq: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummarizePlayerAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    readTrend: {
        parameters: {
            query?: {
                /** @description How many days in Beijing, including today. */
                days?: number;
            };
            header?: never;
            path: {
                qq: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadTrendAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    openApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenApiAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["OverloadedOrShuttingDown"];
        };
    };
}
