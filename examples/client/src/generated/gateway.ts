// Written by `npm run client:types`: do not edit.

export interface paths {
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the gateway is up, and its version
         * @description For clients, in the form of other responses.
         *
         *     Free.
         */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
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
    "/v1/music/upsert": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write or overwrite scores
         * @description Writes 1 to 20 scores over existing ones, all or none. The list must not contain a chart twice. With `sessionId`, they are kept for an upload in parts. Their tokens are held, and only charged by `/v1/upsert/check`.
         *
         *     Costs 15 **write** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["upsertMusic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/music/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete scores
         * @description Deletes the scores of 1 to 20 charts. For one chart, you can omit the list.
         *
         *     Costs 10 **write** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["deleteMusic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/user/music": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read all scores
         * @description All of your scores, with facts of their charts. Writes nothing.
         *
         *     Costs 4 **read** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["readMusic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/user/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete all scores
         * @description Deletes all of your scores permanently.
         *
         *     Costs 20 **write** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["clearMusic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upsert/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Start an upload in parts
         * @description Send up to 2,000 scores to `/v1/music/upsert` with its `sessionId`, then call `/v1/upsert/check`. A session expires after 10 minutes without a call. Nothing is then stored or charged. A user may have 5 open sessions.
         *
         *     Free.
         */
        post: operations["createUploadSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upsert/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Finish an upload in parts
         * @description If all scores have arrived, they are stored, all or none, and charged once: the price of an upsert per 20 scores or part of 20. A repeat gets the same response. An expired session gets 409 `session_expired`.
         *
         *     Free.
         */
        post: operations["checkUploadSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/user/data": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read your account data
         * @description Name, rating and number of plays.
         *
         *     Costs 2 **read** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["readUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/user/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Read your public data
         * @description Name, rating, and when you last played.
         *
         *     Costs 2 **read** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["previewUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/user/region": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List the regions you played in
         * @description Regions are unknown, so the list is empty.
         *
         *     Costs 2 **read** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["listRegions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/charge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Buy a ticket
         * @description Kinds 2, 3 and 5 cost 1, 2 and 3 credits, and each has its own price in tokens. A ticket is valid for 90 days.
         *
         *     Costs 10 or 15 or 25 **write** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["buyTicket"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/user/charge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List your tickets
         * @description Valid tickets, with the number of each kind.
         *
         *     Costs 2 **read** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["readTickets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ticket/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Clear your tickets
         * @description Removes all tickets. Credits aren't refunded.
         *
         *     Costs 5 **write** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["clearTickets"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/charge/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List pending purchases
         * @description Always empty, because purchases complete immediately.
         *
         *     Costs 2 **read** tokens, unless the administrators set other prices; nothing if it fails.
         */
        get: operations["listChargeQueue"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/user/item-list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List all items
         * @description Kinds: 1 plate, 2 title, 3 icon, 4 present, 5 to 8 music unlocks, 9 character, 10 partner, 11 frame, 12 ticket, 15 key.
         *
         *     Costs 2 **read** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["readItems"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/user/kaleidx-scope": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * List all gates, 1 to 10
         * @description The player's progress at each gate.
         *
         *     Costs 2 **read** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["readGates"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/update-lx": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import scores from LXNS, keeping the best
         * @description Reads the player's scores from LXNS and keeps the best of each field. A request is also charged when the source refuses the player's credential.
         *
         *     Costs 5 **read** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["updateLx"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/update-fish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import scores from Diving-Fish, keeping the best
         * @description Reads the player's scores from Diving-Fish and keeps the best of each field. A request is also charged when the source refuses the player's credential.
         *
         *     Costs 5 **read** tokens, unless the administrators set other prices; nothing if it fails.
         */
        post: operations["updateFish"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's last requests, the newest first
         * @description Metered requests of the last 30 days, at most 1,000: time, operation, outcome, charge, and the limit that refused. Follow `nextCursor` until it is `null`.
         *
         *     Free.
         */
        get: operations["ownUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/usage/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Outcomes of the caller's requests, day by day
         * @description Metered requests, tokens and failures per day in Beijing. Days without requests have zeros.
         *
         *     Free.
         */
        get: operations["ownUsageStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/me/quota": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's quota
         * @description Used and remaining tokens of the caller, window by window.
         *
         *     Free.
         */
        get: operations["quotaStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/quota": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The caller's quota, by its older path
         * @description Used and remaining tokens of the caller, window by window.
         *
         *     Free.
         */
        get: operations["quotaStatusAlias"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/quota/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The settings of all users
         * @description Mode, base values, site layer and prices. Send the `ETag` as `If-Match` of a change.
         *
         *     Free.
         */
        get: operations["readSettings"];
        /**
         * Replace the settings of all users
         * @description Send the whole document, without `version`. An invalid one is rejected with all faults. Changes apply immediately.
         *
         *     Free.
         */
        put: operations["replaceSettings"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/quota": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A user's overrides
         * @description Six limits, `null` where the user follows the default, and whether the site layer is bypassed.
         *
         *     Free.
         */
        get: operations["readUserQuota"];
        /**
         * Replace a user's overrides
         * @description Absent members get their default, so `{}` removes all overrides. `If-Match` is optional.
         *
         *     Free.
         */
        put: operations["replaceUserQuota"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/quota/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A user's usage
         * @description The user's `/me/quota`.
         *
         *     Free.
         */
        get: operations["userQuotaStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/quota/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reset a user's usage
         * @description Closes the user's windows in one category or all. Those of the site belong to all users.
         *
         *     Free.
         */
        post: operations["resetUserQuota"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/quota/holds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A user's open holds
         * @description Tokens and slots of requests in progress, by expiry.
         *
         *     Free.
         */
        get: operations["listHolds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/quota/holds/{ref}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Release a hold
         * @description Refunds its tokens and frees its slot immediately. Doesn't stop the work.
         *
         *     Free.
         */
        delete: operations["releaseHold"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Users and their usage
         * @description Pass a page's `nextCursor` as the `cursor` of the next page.
         *
         *     Free.
         */
        get: operations["listUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One user
         * @description The `ETag` covers what administrators set: `name`, `role`, `disabled` and `qq`. Send it as `If-Match` of a change.
         *
         *     Free.
         */
        get: operations["findUser"];
        /**
         * Create or change a user
         * @description Absent members stay unchanged. 201: the user is new. `If-Match` is optional. `If-None-Match: *` only creates users.
         *
         *     Free.
         */
        put: operations["putUser"];
        post?: never;
        /**
         * Delete a user and all of the user's data
         * @description Permanently deletes tokens, scores, tickets, credits, usage records, overrides and open holds. Charges to shared limits and the audit trail stay. A valid JWT creates a new user with the id, so disable a user to keep someone out. `If-Match` is optional.
         *
         *     Free.
         */
        delete: operations["deleteUser"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/balance": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Change a user's balance of ticket credits
         * @description Send `add`, which may be negative, or `set`. With `from`, it is only set if the balance is still `from`.
         *
         *     Free.
         */
        post: operations["changeBalance"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A user's tokens
         * @description Ids and names. A token itself is only shown when it is issued.
         *
         *     Free.
         */
        get: operations["listTokens"];
        put?: never;
        /**
         * Issue a token, which is only shown this time
         * @description Only its hash is stored, so a lost one can't be recovered. A user who doesn't exist is created.
         *
         *     Free.
         */
        post: operations["issueToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/tokens/{tokenId}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a token by a new one, which is only shown this time
         * @description The new one has the same name. The former one stays valid for the grace.
         *
         *     Free.
         */
        post: operations["rotateToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/users/{id}/tokens/{tokenId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a token
         * @description It stops working immediately.
         *
         *     Free.
         */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/bots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Bots of score sync
         * @description Ids and names. A token itself is only shown when it is issued.
         *
         *     Free.
         */
        get: operations["listBots"];
        put?: never;
        /**
         * Issue a bot's token, which is only shown this time
         * @description Only its hash is stored, so a lost one can't be recovered. A user who doesn't exist is created.
         *
         *     Free.
         */
        post: operations["issueBot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/bots/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a bot's token by a new one, which is only shown this time
         * @description The new one has the same name. The former one stays valid for the grace.
         *
         *     Free.
         */
        post: operations["rotateBot"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/bots/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a bot's token
         * @description It stops working immediately.
         *
         *     Free.
         */
        delete: operations["revokeBot"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/chart-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Keys of the chart preview
         * @description Ids and names. A token itself is only shown when it is issued.
         *
         *     Free.
         */
        get: operations["listChartKeys"];
        put?: never;
        /**
         * Issue a chart key, which is only shown this time
         * @description Only its hash is stored, so a lost one can't be recovered. A user who doesn't exist is created.
         *
         *     Free.
         */
        post: operations["issueChartKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/chart-keys/{id}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace a chart key by a new one, which is only shown this time
         * @description The new one has the same name. The former one stays valid for the grace.
         *
         *     Free.
         */
        post: operations["rotateChartKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/chart-keys/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a chart key
         * @description It stops working immediately.
         *
         *     Free.
         */
        delete: operations["revokeChartKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The audit trail of changes, the newest first
         * @description Follow `nextCursor` until it is `null`. While entries are written, no page repeats or skips one.
         *
         *     Free.
         */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/quota/adaptive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The factor of mode adaptive, and the reason for its value
         * @description It follows the server errors of the last 30 minutes, between 0.75 and 1.5.
         *
         *     Free.
         */
        get: operations["adaptiveFactor"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/refusals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Recent refusals by user and limit
         * @description Refusals of the last 24 hours in all processes, by user, operation and limit, the newest first. Counts at most the newest 1,000.
         *
         *     Free.
         */
        get: operations["latestRefusals"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/usage/failure-rate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Outcomes of requests over the last days
         * @description Buckets are aligned to the half hour (UTC). Those without calls are included.
         *
         *     Free.
         */
        get: operations["failureRate"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/usage/errors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Server errors by operation and status
         * @description Errors with status 0, or 500 and above, in half hours (UTC) that begin in the range, of the last 7 days. The most frequent first.
         *
         *     Free.
         */
        get: operations["serverErrors"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/overview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Overview of the service
         * @description Requests and their outcomes, refusals, what remains of shared limits, and the users who spend and are refused the most. Each member says whether it covers one process or all.
         *
         *     Free.
         */
        get: operations["overview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/overview/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Requests and their outcomes over the last day or week
         * @description All processes, in steps of 10 minutes or an hour. Steps without requests are included.
         *
         *     Free.
         */
        get: operations["requestHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/admin/overview/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Overview of the service, every second
         * @description Server-sent events `overview` with the JSON of `/admin/overview`, immediately and then every second. The stream ends after a minute, when the credential is revoked, and when the service stops. Reconnect with the credential.
         *
         *     Free.
         */
        get: operations["overviewEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Metrics for Prometheus
         * @description In the text format of Prometheus.
         *
         *     Free.
         */
        get: operations["metrics"];
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
        UpsertMusicBody: {
            /** @description For an upload in parts: its scores are kept, but not stored or charged yet. */
            sessionId?: string | null;
            musicList: {
                /** @description Id of the music; with `level` it names a chart. */
                musicId: number;
                /**
                 * @description 0 Basic, 1 Advanced, 2 Expert, 3 Master, 4 Re:Master, 10 utage.
                 * @enum {number}
                 */
                level: 0 | 1 | 2 | 3 | 4 | 10;
                /** @description A percentage from 0 to 101 (`100.5`), or percent x 10000 as a whole number above 10000 (`1005000`); either as a number or as text. */
                achievement: number | string;
                /** @description The DX score. With `fuzzy`, a number of stars, 0 to 5, which means the lowest score with them. */
                dxScore: number;
                /**
                 * @description A name or its number: 0 none, 1 fc, 2 fcp, 3 ap, 4 app.
                 * @enum {unknown}
                 */
                comboStatus?: "none" | 0 | "fc" | 1 | "fcp" | 2 | "ap" | 3 | "app" | 4;
                /**
                 * @description A name or its number: 0 none, 1 fs, 2 fsp, 3 fsd, 4 fsdp, 5 sync.
                 * @enum {unknown}
                 */
                syncStatus?: "none" | 0 | "fs" | 1 | "fsp" | 2 | "fsd" | 3 | "fsdp" | 4 | "sync" | 5 | "fdx" | "fdxp";
                /**
                 * @description Whether `dxScore` counts stars.
                 * @default false
                 */
                fuzzy?: boolean;
            }[];
        };
        DeleteMusicBody: {
            musicList: {
                /** @description Id of the music; with `level` it names a chart. */
                musicId: number;
                /**
                 * @description 0 Basic, 1 Advanced, 2 Expert, 3 Master, 4 Re:Master, 10 utage.
                 * @enum {number}
                 */
                level: 0 | 1 | 2 | 3 | 4 | 10;
            }[];
        } | {
            /** @description Id of the music; with `level` it names a chart. */
            musicId: number;
            /**
             * @description 0 Basic, 1 Advanced, 2 Expert, 3 Master, 4 Re:Master, 10 utage.
             * @enum {number}
             */
            level: 0 | 1 | 2 | 3 | 4 | 10;
        };
        ReadMusicBody: Record<string, never>;
        ClearMusicBody: {
            /** @constant */
            confirm: true;
        };
        CreateUploadSessionBody: {
            /** @description How many scores you will send. Absent: the check ends the upload. */
            expected?: number | null;
        };
        CheckUploadSessionBody: {
            /**
             * Format: uuid
             * @description The id from `POST /v1/upsert/session`.
             */
            sessionId: string;
        };
        ReadUserBody: Record<string, never>;
        PreviewUserBody: Record<string, never>;
        ListRegionsBody: Record<string, never>;
        BuyTicketBody: {
            /** @enum {number} */
            chargeId: 2 | 3 | 5;
        } | {
            /** @enum {number} */
            charge: 2 | 3 | 5;
        };
        ReadTicketsBody: Record<string, never>;
        ClearTicketsBody: Record<string, never>;
        ReadItemsBody: Record<string, never>;
        ReadGatesBody: Record<string, never>;
        UpdateLxBody: {
            /** @description The player's own token. */
            key: string;
        } | {
            /** @description An access token of the source's OAuth. */
            accessToken: string;
        };
        UpdateFishBody: {
            /** @description The player's import token. */
            token: string;
        } | {
            /** @description An access token of the source's OAuth. */
            accessToken: string;
        };
        ReplaceSettingsBody: {
            /**
             * @description What scales the base values: 0.75, 1, 1.5, between 0.75 and 1.5; or the table `custom` instead.
             * @enum {string}
             */
            mode: "conservative" | "normal" | "lenient" | "adaptive" | "custom";
            base: components["schemas"]["QuotaTable"];
            /** @description Not scaled. Required in mode `custom`. */
            custom: components["schemas"]["QuotaTable"] | null;
            site: {
                /** @description `false`: the site's windows are neither checked, charged nor shown. */
                enabled: boolean;
                /** @description Factor on the site's limits in every mode; at most two decimals. */
                multiplier: number;
            };
            /** @description Prices in tokens that differ from the default. */
            prices: {
                "user.data"?: number;
                "user.charge"?: number;
                "user.items"?: number;
                "user.gates"?: number;
                "user.music"?: number;
                "source.lx"?: number;
                "source.fish"?: number;
                "ticket.clear"?: number;
                "music.delete"?: number;
                "music.upsert"?: number;
                "user.clear"?: number;
                "charge.2"?: number;
                "charge.3"?: number;
                "charge.5"?: number;
            };
        };
        QuotaTable: {
            personal: components["schemas"]["CategoryTokens"];
            site: components["schemas"]["CategoryTokens"];
        };
        CategoryTokens: {
            read: components["schemas"]["WindowTokens"];
            write: components["schemas"]["WindowTokens"];
        };
        WindowTokens: {
            "1h": number;
            "5h": number;
            "1d": number;
        };
        ReplaceUserQuotaBody: {
            /** @default {} */
            overrides?: {
                read?: {
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1h"?: number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "5h"?: number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1d"?: number | null;
                };
                write?: {
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1h"?: number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "5h"?: number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1d"?: number | null;
                };
            };
            /** @default false */
            bypassSite?: boolean;
        };
        ResetUserQuotaBody: {
            /**
             * @description Default: the user's own.
             * @enum {string}
             */
            layer?: "personal" | "site";
            /**
             * @description Default: all.
             * @enum {string}
             */
            category?: "read" | "write";
        };
        PutUserBody: {
            name?: string;
            /** @enum {string} */
            role?: "player" | "admin";
            /** @description `true`: all credentials are rejected with a 403. */
            disabled?: boolean;
            qq?: number | null;
        };
        ChangeBalanceBody: {
            add: number;
        } | {
            set: number;
            /** @description Only set it if the balance is this. */
            from?: number;
        };
        IssueTokenBody: {
            label?: string;
        };
        RotateTokenBody: {
            /**
             * @description How long the former token stays valid.
             * @default 86400
             */
            graceSeconds?: number;
        };
        IssueBotBody: {
            name: string;
        };
        RotateBotBody: {
            /**
             * @description How long the former token stays valid.
             * @default 86400
             */
            graceSeconds?: number;
        };
        IssueChartKeyBody: {
            name: string;
        };
        RotateChartKeyBody: {
            /**
             * @description How long the former token stays valid.
             * @default 86400
             */
            graceSeconds?: number;
        };
        HealthAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                /** @constant */
                status: "ok";
                version: string;
            };
        };
        AliveAnswer: {
            /** @constant */
            status: "alive";
        };
        ReadyAnswer: {
            /** @constant */
            status: "ready";
        };
        UpsertMusicAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                /** @description Scores that were created or updated. */
                uploadedMusicCount: number;
                /** @description Scores that already existed and are equal. */
                skippedMusicCount: number;
                results: {
                    musicId: number;
                    level: number;
                    /** @enum {string} */
                    status: "created" | "updated" | "unchanged";
                    score: components["schemas"]["Score"];
                }[];
                /** @description Present with `sessionId`: what was received so far. Nothing is stored before `POST /v1/upsert/check`. */
                session?: {
                    /** Format: uuid */
                    sessionId: string;
                    /** Format: date-time */
                    expiresAt: string;
                    expected: number | null;
                    /** @description Scores received, of different charts. */
                    receivedMusicCount: number;
                    /** @description The charge for all of them. */
                    tokensHeld: number;
                };
            };
        };
        Score: {
            /** @description Id of the music; with `level` it names a chart. */
            musicId: number;
            /**
             * @description 0 Basic, 1 Advanced, 2 Expert, 3 Master, 4 Re:Master, 10 utage.
             * @enum {number}
             */
            level: 0 | 1 | 2 | 3 | 4 | 10;
            /** @enum {string} */
            type: "standard" | "dx" | "utage";
            /** @description Absent if the chart is unknown. */
            title?: string;
            /** @description Percent x 10000: 1005000 is 100.5 %. */
            achievement: number;
            dxScore: number;
            /** @description Three times the notes; `null`: the notes are unknown. */
            dxScoreMax: number | null;
            /** @description Stars of the DX score; `null` without a maximum. */
            dxStar: number | null;
            /**
             * @description `fuzzy`: computed from stars.
             * @enum {string}
             */
            dxScoreSource: "exact" | "fuzzy" | "unknown";
            /** @description 0 none, 1 fc, 2 fcp, 3 ap, 4 app. */
            comboStatus: number;
            /** @description 0 none, 1 fs, 2 fsp, 3 fsd, 4 fsdp, 5 sync. */
            syncStatus: number;
            /** @description 0 d, 1 c, 2 b, 3 bb, 4 bbb, 5 a, 6 aa, 7 aaa, 8 s to 13 sssp. */
            scoreRank: number;
            /** @description `null`: unknown. */
            playCount: number | null;
            /**
             * @description The last source of the score.
             * @enum {string}
             */
            source: "api" | "lx" | "fish" | "bot";
            /** @description ISO 8601 UTC; `null`: unknown. */
            playedAt: string | null;
            /**
             * Format: date-time
             * @description When it last changed, ISO 8601 UTC.
             */
            updatedAt: string;
        };
        /** @description A window has too few tokens left. Nothing was charged. */
        QuotaExceeded: {
            /** @constant */
            error: "quota_exceeded";
            msg: string;
            retryAfterSeconds: number;
            /** @description `false`: the price is above the limit itself, so waiting will not help. */
            retryable?: boolean;
            quota: {
                scope: string;
                category: string;
                window: string;
                limit: number;
                used: number;
                requested: number;
                /** Format: date-time */
                resetAt: string;
                /** @description `yyyy-MM-dd HH:mm:ss` in `timeZone`. */
                retryAtBeijing: string;
                timeZone: string;
                /**
                 * Format: date-time
                 * @description The same as `resetAt`.
                 */
                retryAt: string;
                /** @description The window in the language of `msg`: `1-Hour`, `1 小时`. */
                windowLabel: string;
            };
        };
        DeleteMusicAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                /** @description Scores that were deleted. */
                deletedMusicCount: number;
                results: {
                    musicId: number;
                    level: number;
                    /** @enum {string} */
                    status: "deleted" | "not_found";
                }[];
            };
        };
        ReadMusicAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                /** @description Length of the list. */
                length: number;
                userMusicDetailList: {
                    /** @description Id of the music; with `level` it names a chart. */
                    musicId: number;
                    /**
                     * @description 0 Basic, 1 Advanced, 2 Expert, 3 Master, 4 Re:Master, 10 utage.
                     * @enum {number}
                     */
                    level: 0 | 1 | 2 | 3 | 4 | 10;
                    /** @enum {string} */
                    type: "standard" | "dx" | "utage";
                    /** @description Absent if the chart is unknown. */
                    title?: string;
                    /** @description Percent x 10000: 1005000 is 100.5 %. */
                    achievement: number;
                    dxScore: number;
                    /** @description Three times the notes; `null`: the notes are unknown. */
                    dxScoreMax: number | null;
                    /** @description Stars of the DX score; `null` without a maximum. */
                    dxStar: number | null;
                    /**
                     * @description `fuzzy`: computed from stars.
                     * @enum {string}
                     */
                    dxScoreSource: "exact" | "fuzzy" | "unknown";
                    /** @description 0 none, 1 fc, 2 fcp, 3 ap, 4 app. */
                    comboStatus: number;
                    /** @description 0 none, 1 fs, 2 fsp, 3 fsd, 4 fsdp, 5 sync. */
                    syncStatus: number;
                    /** @description 0 d, 1 c, 2 b, 3 bb, 4 bbb, 5 a, 6 aa, 7 aaa, 8 s to 13 sssp. */
                    scoreRank: number;
                    /** @description `null`: unknown. */
                    playCount: number | null;
                    /**
                     * @description The last source of the score.
                     * @enum {string}
                     */
                    source: "api" | "lx" | "fish" | "bot";
                    /** @description ISO 8601 UTC; `null`: unknown. */
                    playedAt: string | null;
                    /**
                     * Format: date-time
                     * @description When it last changed, ISO 8601 UTC.
                     */
                    updatedAt: string;
                    /** @description The same as `dxScoreMax`. */
                    deluxscoreMax: number | null;
                }[];
            };
        };
        ClearMusicAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                clearedCount: number;
            };
        };
        CreateUploadSessionAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                /** Format: uuid */
                sessionId: string;
                /** Format: date-time */
                expiresAt: string;
                expected: number | null;
            };
        };
        CheckUploadSessionAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                /** Format: uuid */
                sessionId: string;
                /**
                 * @description `open`: not complete; `done`: stored and charged.
                 * @enum {string}
                 */
                status: "open" | "done";
                /** @description When an open session expires; `null`: it doesn't. */
                expiresAt: string | null;
                expected: number | null;
                /** @description Scores received, of different charts. */
                receivedMusicCount: number;
                /** @description Scores that were created or updated; `null`: not known yet. */
                uploadedMusicCount: number | null;
                /** @description Scores that already existed and are equal. */
                skippedMusicCount: number | null;
                /** @description The charge for all scores; `null`: not charged yet. */
                tokensCharged: number | null;
            };
        };
        ReadUserAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                userId: string;
                userName: string;
                playerRating: number;
                playCount: number;
                /**
                 * Format: date-time
                 * @description When this data or a score last changed.
                 */
                updatedAt: string;
            };
        };
        PreviewUserAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                userId: string;
                userName: string;
                playerRating: number;
                /**
                 * @description Always false: no one plays through this service.
                 * @constant
                 */
                isLogin: false;
                /** @description According to scores with a known time; `null`: unknown. */
                lastPlayDate: string | null;
            };
        };
        ListRegionsAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                /** @description Length of the list. */
                length: number;
                userRegionList: {
                    regionId: number;
                    playCount: number;
                    /** Format: date-time */
                    created: string;
                }[];
            };
        };
        BuyTicketAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                /**
                 * @description The ticket's `chargeId`.
                 * @enum {number}
                 */
                charge: 2 | 3 | 5;
                /** @description Tokens of the quota. */
                tokensCharged: number;
                /** @description The remaining credits. */
                balance: number;
            };
        };
        ReadTicketsAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                length: number;
                userChargeList: {
                    /** @enum {number} */
                    chargeId: 2 | 3 | 5;
                    stock: number;
                    /** Format: date-time */
                    purchaseDate: string;
                    /** Format: date-time */
                    validDate: string;
                }[];
            };
        };
        ClearTicketsAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                clearedCount: number;
            };
        };
        ListChargeQueueAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                length: number;
                queue: {
                    chargeId: number;
                }[];
            };
        };
        ReadItemsAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                length: number;
                userItemList: {
                    /** @enum {number} */
                    itemKind: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 15;
                    itemId: number;
                    stock: number;
                    isValid: boolean;
                }[];
            };
        };
        ReadGatesAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                length: number;
                userKaleidxScopeList: {
                    /** @enum {number} */
                    gateId: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10;
                    isGateFound: boolean;
                    isKeyFound: boolean;
                    isClear: boolean;
                    totalRestLife: number;
                    totalAchievement: number;
                    totalDeluxscore: number;
                    bestAchievement: number;
                    bestDeluxscore: number;
                    bestAchievementDate: string | null;
                    bestDeluxscoreDate: string | null;
                    playCount: number;
                    clearDate: string | null;
                    lastPlayDate: string | null;
                    isInfoWatched: boolean;
                }[];
            };
        };
        UpdateLxAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                /** @enum {string} */
                source: "lx" | "fish";
                fetched: number;
                created: number;
                updated: number;
                unchanged: number;
                skipped: number;
                readonly errors: {
                    path: string;
                    msg: string;
                }[];
                /** Format: date-time */
                syncedAt: string;
            };
        };
        UpdateFishAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                /** @enum {string} */
                source: "lx" | "fish";
                fetched: number;
                created: number;
                updated: number;
                unchanged: number;
                skipped: number;
                readonly errors: {
                    path: string;
                    msg: string;
                }[];
                /** Format: date-time */
                syncedAt: string;
            };
        };
        OwnUsageAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                items: {
                    /**
                     * Format: date-time
                     * @description When it was decided.
                     */
                    at: string;
                    operation: string;
                    category: string;
                    /** @description The final charge. */
                    tokens: number;
                    /** @description The HTTP status; 499: the client disconnected before the response. */
                    status: number;
                    /** @description The response's `error`; `null`: none. */
                    error: string | null;
                    /** @description The limit that refused it; `null`: none, or one that is no longer there. */
                    refusal: {
                        scope: string;
                        window: string;
                        limit: number;
                        used: number;
                        requested: number;
                        /** Format: date-time */
                        resetAt: string;
                    } | null;
                }[];
                nextCursor: string | null;
            };
        };
        OwnUsageStatsAnswer: {
            /** @constant */
            returnCode: 1;
            /** @constant */
            code: 0;
            msg: string;
            /** @description The same as `msg`. */
            returnMessage: string;
            businessData: {
                days: number;
                /** @constant */
                timeZone: "Asia/Shanghai";
                /** @description Each day, the oldest first. */
                series: {
                    /** Format: date */
                    date: string;
                    requests: number;
                    tokens: number;
                    /** @description Responses with status 400 and above. */
                    failures: number;
                }[];
                summary: {
                    requests: number;
                    tokens: number;
                    /** @description Responses with status 400 and above. */
                    failures: number;
                };
            };
        };
        QuotaStatus: {
            /** @description By category: the windows of each layer that applies, in order. */
            windows: {
                readonly read: components["schemas"]["WindowStatus"][];
                readonly write: components["schemas"]["WindowStatus"][];
            };
            /** @description Time zone of local times in texts. */
            timeZone: string;
        };
        WindowStatus: {
            /** @description `Personal` or `Site`. */
            scope: string;
            /** @description `1h`, `5h` or `1d`. */
            window: string;
            /** @description Tokens. */
            limit: number;
            /** @description Tokens. */
            used: number;
            /** @description The part of `used` that open holds may still refund. Absent: none. */
            held?: number;
            /** @description Tokens, never below 0. */
            remaining: number;
            /** @description ISO 8601 UTC; `null`: the window isn't open. */
            startedAt: string | null;
            /** @description When the window ends, ISO 8601 UTC; `null`: it isn't open. */
            resetAt: string | null;
        };
        ReadSettingsAnswer: {
            /**
             * @description What scales the base values: 0.75, 1, 1.5, between 0.75 and 1.5; or the table `custom` instead.
             * @enum {string}
             */
            mode: "conservative" | "normal" | "lenient" | "adaptive" | "custom";
            base: components["schemas"]["QuotaTable"];
            /** @description Not scaled. Required in mode `custom`. */
            custom: components["schemas"]["QuotaTable"] | null;
            site: {
                /** @description `false`: the site's windows are neither checked, charged nor shown. */
                enabled: boolean;
                /** @description Factor on the site's limits in every mode; at most two decimals. */
                multiplier: number;
            };
            /** @description Prices in tokens that differ from the default. */
            prices: {
                "user.data"?: number;
                "user.charge"?: number;
                "user.items"?: number;
                "user.gates"?: number;
                "user.music"?: number;
                "source.lx"?: number;
                "source.fish"?: number;
                "ticket.clear"?: number;
                "music.delete"?: number;
                "music.upsert"?: number;
                "user.clear"?: number;
                "charge.2"?: number;
                "charge.3"?: number;
                "charge.5"?: number;
            };
            /** @description Counts changes. */
            version: number;
        };
        ReplaceSettingsAnswer: {
            /**
             * @description What scales the base values: 0.75, 1, 1.5, between 0.75 and 1.5; or the table `custom` instead.
             * @enum {string}
             */
            mode: "conservative" | "normal" | "lenient" | "adaptive" | "custom";
            base: components["schemas"]["QuotaTable"];
            /** @description Not scaled. Required in mode `custom`. */
            custom: components["schemas"]["QuotaTable"] | null;
            site: {
                /** @description `false`: the site's windows are neither checked, charged nor shown. */
                enabled: boolean;
                /** @description Factor on the site's limits in every mode; at most two decimals. */
                multiplier: number;
            };
            /** @description Prices in tokens that differ from the default. */
            prices: {
                "user.data"?: number;
                "user.charge"?: number;
                "user.items"?: number;
                "user.gates"?: number;
                "user.music"?: number;
                "source.lx"?: number;
                "source.fish"?: number;
                "ticket.clear"?: number;
                "music.delete"?: number;
                "music.upsert"?: number;
                "user.clear"?: number;
                "charge.2"?: number;
                "charge.3"?: number;
                "charge.5"?: number;
            };
            /** @description Counts changes. */
            version: number;
            /** @description Reasons why an operation is impossible, such as a limit below its price. */
            warnings: {
                path: string;
                msg: string;
            }[];
        };
        UserQuota: {
            overrides: {
                read: {
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1h": number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "5h": number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1d": number | null;
                };
                write: {
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1h": number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "5h": number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1d": number | null;
                };
            };
            /** @description `true`: the windows of `Site` do not apply to this user; those of `Personal` do. */
            bypassSite: boolean;
        };
        ReplaceUserQuotaAnswer: {
            overrides: {
                read: {
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1h": number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "5h": number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1d": number | null;
                };
                write: {
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1h": number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "5h": number | null;
                    /** @description Tokens, which modes don't scale; `null`: the default, 0 blocks. */
                    "1d": number | null;
                };
            };
            /** @description `true`: the windows of `Site` do not apply to this user; those of `Personal` do. */
            bypassSite: boolean;
            /** @description Reasons why an operation is impossible, such as a limit below its price. */
            warnings: {
                path: string;
                msg: string;
            }[];
        };
        ListHoldsAnswer: {
            items: components["schemas"]["Hold"][];
        };
        Hold: {
            /** @description Identifies the hold when you release it. */
            ref: string;
            operation: string;
            category: string;
            /** @description Its tokens in every window. */
            tokens: number;
            /** @description `true`: it has a concurrency slot. */
            slot: boolean;
            /**
             * Format: date-time
             * @description ISO 8601 UTC.
             */
            takenAt: string;
            /**
             * Format: date-time
             * @description When it expires and is refunded, unless it is extended.
             */
            endsAt: string;
        };
        ListUsersAnswer: {
            items: {
                id: string;
                name: string;
                /** @enum {string} */
                role: "player" | "admin";
                /** @description Whether all credentials of the user are rejected. */
                disabled: boolean;
                /** @description The score sync account. */
                qq: number | null;
                /** @description In credits. */
                balance: number;
                /** Format: date-time */
                createdAt: string;
                /** @description Tokens charged since midnight in Beijing. */
                tokensToday: number;
                /** @description Requests that a limit refused since midnight in Beijing. */
                refusalsToday: number;
                /** @description The last metered request; `null`: none within a month. */
                lastSeenAt: string | null;
                /** @description The personal limit with the largest share used; `null`: the counters are unavailable. */
                tightest: {
                    name: string;
                    limit: number;
                    used: number;
                } | null;
            }[];
            nextCursor: string | null;
            /** @description How many users the search finds. */
            total: number;
        };
        FindUserAnswer: {
            id: string;
            name: string;
            /** @enum {string} */
            role: "player" | "admin";
            /** @description Whether all credentials of the user are rejected. */
            disabled: boolean;
            /** @description The score sync account. */
            qq: number | null;
            /** @description In credits. */
            balance: number;
            /** Format: date-time */
            createdAt: string;
        };
        PutUserAnswer: {
            id: string;
            name: string;
            /** @enum {string} */
            role: "player" | "admin";
            /** @description Whether all credentials of the user are rejected. */
            disabled: boolean;
            /** @description The score sync account. */
            qq: number | null;
            /** @description In credits. */
            balance: number;
            /** Format: date-time */
            createdAt: string;
        };
        ChangeBalanceAnswer: {
            id: string;
            balance: number;
        };
        ListTokensAnswer: {
            items: {
                id: string;
                label: string;
                /** @description The last four characters; empty for a short one. */
                lastFour: string;
                /** Format: date-time */
                createdAt: string;
                /** @description Up to ten minutes late; `null`: never. */
                lastUsedAt: string | null;
                /** @description Set when it was rotated; `null`: never. */
                expiresAt: string | null;
            }[];
        };
        IssueTokenAnswer: {
            id: string;
            token: string;
        };
        RotateTokenAnswer: {
            id: string;
            token: string;
            /** Format: date-time */
            formerExpiresAt: string;
        };
        ListBotsAnswer: {
            items: {
                id: string;
                name: string;
                /** @description The last four characters; empty for a short one. */
                lastFour: string;
                /** Format: date-time */
                createdAt: string;
                /** @description Up to ten minutes late; `null`: never. */
                lastUsedAt: string | null;
                /** @description Set when it was rotated; `null`: never. */
                expiresAt: string | null;
            }[];
        };
        IssueBotAnswer: {
            id: string;
            token: string;
        };
        RotateBotAnswer: {
            id: string;
            token: string;
            /** Format: date-time */
            formerExpiresAt: string;
        };
        ListChartKeysAnswer: {
            items: {
                id: string;
                name: string;
                /** @description The last four characters; empty for a short one. */
                lastFour: string;
                /** Format: date-time */
                createdAt: string;
                /** @description Up to ten minutes late; `null`: never. */
                lastUsedAt: string | null;
                /** @description Set when it was rotated; `null`: never. */
                expiresAt: string | null;
            }[];
        };
        IssueChartKeyAnswer: {
            id: string;
            token: string;
        };
        RotateChartKeyAnswer: {
            id: string;
            token: string;
            /** Format: date-time */
            formerExpiresAt: string;
        };
        ListAuditAnswer: {
            items: {
                seq: number;
                /** Format: date-time */
                at: string;
                /** @description A user's id, or `command line`. */
                by: string | null;
                /** @enum {string} */
                action: "settings.change" | "user-quota.change" | "quota.reset" | "hold.release" | "user.create" | "user.change" | "user.delete" | "balance.change" | "token.issue" | "token.rotate" | "token.revoke" | "bot.issue" | "bot.rotate" | "bot.revoke" | "chart-key.issue" | "chart-key.rotate" | "chart-key.revoke";
                /** @description The id of what was changed; `null`: the settings of all users. */
                subject: string | null;
                before: {
                    [key: string]: unknown;
                } | null;
                after: {
                    [key: string]: unknown;
                } | null;
            }[];
            nextCursor: string | null;
            /** @description How many entries the filters let through. */
            total: number;
        };
        AdaptiveFactorAnswer: {
            /** @enum {string} */
            mode: "conservative" | "normal" | "lenient" | "adaptive" | "custom";
            /** @description whether the mode is adaptive; otherwise the factor doesn't move or apply */
            isActive: boolean;
            factor: number;
            /** @description counts ticks; independent of the version of the settings */
            version: number;
            /** @description the last tick; null before the first */
            lastTick: {
                /** Format: date-time */
                at: string;
                /** @enum {string} */
                code: "errors_high" | "errors_low" | "trial" | "little_traffic" | "in_vain" | "steady";
                from: number;
                to: number;
                /** @description of the last 30 complete minutes, and of the last 5 */
                counts: {
                    calls: number;
                    errors: number;
                    recentCalls: number;
                    recentErrors: number;
                };
                /** @description Wilson bounds of the error rate */
                bounds: {
                    low: number;
                    high: number;
                    recentLow: number;
                };
                /** @description no rise reaches this level, except for a trial; null: none has failed */
                failed: {
                    /** @description the lowest level at which errors began */
                    level: number;
                    /**
                     * Format: date-time
                     * @description when it can be tried again
                     */
                    retryAt: string;
                } | null;
            } | null;
            /** @description what a tick would do now */
            preview: {
                /** Format: date-time */
                at: string;
                /** @enum {string} */
                code: "errors_high" | "errors_low" | "trial" | "little_traffic" | "in_vain" | "steady";
                from: number;
                to: number;
                /** @description of the last 30 complete minutes, and of the last 5 */
                counts: {
                    calls: number;
                    errors: number;
                    recentCalls: number;
                    recentErrors: number;
                };
                /** @description Wilson bounds of the error rate */
                bounds: {
                    low: number;
                    high: number;
                    recentLow: number;
                };
                /** @description no rise reaches this level, except for a trial; null: none has failed */
                failed: {
                    /** @description the lowest level at which errors began */
                    level: number;
                    /**
                     * Format: date-time
                     * @description when it can be tried again
                     */
                    retryAt: string;
                } | null;
            };
            /** @description the last moves, newest first */
            history: {
                /** Format: date-time */
                at: string;
                /** @enum {string} */
                code: "errors_high" | "errors_low" | "trial" | "little_traffic" | "in_vain" | "steady";
                from: number;
                to: number;
                /** @description of the last 30 complete minutes, and of the last 5 */
                counts: {
                    calls: number;
                    errors: number;
                    recentCalls: number;
                    recentErrors: number;
                };
                /** @description Wilson bounds of the error rate */
                bounds: {
                    low: number;
                    high: number;
                    recentLow: number;
                };
                /** @description no rise reaches this level, except for a trial; null: none has failed */
                failed: {
                    /** @description the lowest level at which errors began */
                    level: number;
                    /**
                     * Format: date-time
                     * @description when it can be tried again
                     */
                    retryAt: string;
                } | null;
            }[];
        };
        LatestRefusalsAnswer: {
            /** Format: date-time */
            since: string;
            refusals: {
                userId: string;
                operation: string;
                /** @description The limit's name, for example `personal-read-1h`. */
                name: string;
                /** @description The limit at the last refusal, in tokens. So are `used` and `requested`. */
                limit: number;
                used: number;
                /** @description Above `limit`: waiting did not help. */
                requested: number;
                count: number;
                /** Format: date-time */
                lastAt: string;
                /**
                 * Format: date-time
                 * @description When the limit had room again after the last refusal.
                 */
                resetAt: string;
            }[];
        };
        FailureRateAnswer: {
            /** @constant */
            scope: "Site";
            days: number;
            bucketMinutes: number;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string;
            series: {
                /** Format: date-time */
                ts: string;
                /** @description the same, in seconds since the epoch */
                bucketUnix: number;
                calls: number;
                /** @description server errors without a response to pass on (httpStatus 0) */
                codeZero: number;
                /** @description all server errors: httpStatus 0, or 500 and above */
                serverError: number;
                clientError: number;
                /** @description responses below 400 whose returnCode is not 1 */
                businessFail: number;
                successRate: number;
                /** @description (businessFail + serverError) / calls; 0 without calls */
                failureRate: number;
            }[];
            summary: {
                calls: number;
                /** @description server errors without a response to pass on (httpStatus 0) */
                codeZero: number;
                /** @description all server errors: httpStatus 0, or 500 and above */
                serverError: number;
                clientError: number;
                /** @description responses below 400 whose returnCode is not 1 */
                businessFail: number;
                successRate: number;
                /** @description (businessFail + serverError) / calls; 0 without calls */
                failureRate: number;
            };
        };
        ServerErrorsAnswer: {
            items: {
                /** @description Method and path of the route. */
                operation: string;
                /** @description 0: the request could not be forwarded. */
                httpStatus: number;
                count: number;
                /** Format: date-time */
                lastAt: string;
            }[];
        };
        Overview: {
            /** Format: date-time */
            at: string;
            /** @description The process that responded. It gets a new id with each start. */
            process: {
                id: string;
                /** Format: date-time */
                since: string;
            };
            requests: {
                /** @description This process, over the last ten seconds. */
                perSecond: number;
                /** @description This process: the last 60 whole seconds, the oldest first. */
                seconds: {
                    succeeded: number;
                    /** @description By a limit. */
                    refused: number;
                    /** @description By other client errors. */
                    clientError: number;
                    /** @description Server errors, ours or those of a source. */
                    serverError: number;
                }[];
                /** @description All processes: the last 60 minutes, including the current one; `null`: the database is unavailable. */
                minutes: {
                    /** Format: date-time */
                    ts: string;
                    calls: number;
                    succeeded: number;
                    /** @description By a limit. */
                    refused: number;
                    /** @description By other client errors. */
                    clientError: number;
                    /** @description Server errors, ours or those of a source. */
                    serverError: number;
                }[] | null;
            };
            /** @description This process. `degraded`: decisions by the failure policy, because the counters were unavailable. */
            refusals: {
                /** Format: date-time */
                since: string;
                limits: {
                    /** @description For example `personal-read-1h`. */
                    name: string;
                    count: number;
                }[];
                degraded: number;
            };
            /** @description Shared limits, of all processes; `null`: the counters are unavailable. */
            shared: {
                /** @description For example `personal-read-1h`. */
                name: string;
                limit: number | "unlimited";
                used: number;
                remaining: number | "unlimited";
                resetAt: string | null;
            }[] | null;
            /** @description Shared layers that are switched off, by name. */
            disabled: string[];
            /** @description The last known factor of all processes. */
            adaptive: {
                /** @enum {string} */
                mode: "conservative" | "normal" | "lenient" | "adaptive" | "custom";
                isActive: boolean;
                factor: number;
                min: number;
                max: number;
            };
            /** @description This process: the users who spent the most and were refused the most, by category. */
            top: {
                /** Format: date-time */
                since: string;
                spent: {
                    [key: string]: {
                        userId: string;
                        /** @description Tokens, or refusals. */
                        amount: number;
                        /** @description The certain part of it. */
                        atLeast: number;
                    }[];
                };
                refused: {
                    [key: string]: {
                        userId: string;
                        /** @description Tokens, or refusals. */
                        amount: number;
                        /** @description The certain part of it. */
                        atLeast: number;
                    }[];
                };
            };
            settings: {
                version: number;
                /** @description Stored values without effect; `null`: the database is unavailable. */
                faults: {
                    path: string;
                    msg: string;
                }[] | null;
            };
        };
        RequestHistoryAnswer: {
            /** Format: date-time */
            until: string;
            series: {
                /** Format: date-time */
                ts: string;
                calls: number;
                succeeded: number;
                /** @description By a limit. */
                refused: number;
                /** @description By other client errors. */
                clientError: number;
                /** @description Server errors, ours or those of a source. */
                serverError: number;
            }[];
        };
        OverviewEventsAnswer: string;
        MetricsAnswer: string;
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
            /** @description The request's id in our log. */
            requestId: string;
            /** @description All faults of the request, by dotted path, for example `musicList.0.level`. */
            details?: {
                path: string;
                msg: string;
            }[];
            /**
             * @description The score service.
             * @enum {string}
             */
            source?: "lx" | "fish";
            /** @description Its HTTP status. */
            upstreamStatus?: number;
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
        /** @description `user_disabled`: The account is disabled. Its credentials are valid, and will work again when it is enabled. */
        UserDisabled: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "user_disabled";
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
        /**
         * @description `conflict`: The request conflicts with stored data, or with another request in progress.
         *
         *     `session_expired`: The upload session has expired. Nothing was stored or charged.
         */
        ConflictOrSessionExpired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /** @description Whole seconds to wait before retrying. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "conflict" | "session_expired";
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
         *     `unknown_chart`: A chart is unknown.
         *
         *     `dx_score_too_high`: A DX score is higher than the chart's maximum.
         */
        ValidationFailedOrUnknownChartOrDxScoreTooHigh: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "validation_failed" | "unknown_chart" | "dx_score_too_high";
                };
            };
        };
        /** @description `quota_exceeded`: A window has too few tokens left. Nothing was charged. */
        QuotaExceeded: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-Quota-Reset": components["headers"]["X-Quota-Reset"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["QuotaExceeded"];
            };
        };
        /** @description `score_not_found`: These charts have no scores. */
        ScoreNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "score_not_found";
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
        /**
         * @description `user_disabled`: The account is disabled. Its credentials are valid, and will work again when it is enabled.
         *
         *     `insufficient_balance`: The ticket balance is too small.
         */
        UserDisabledOrInsufficientBalance: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "user_disabled" | "insufficient_balance";
                };
            };
        };
        /**
         * @description `validation_failed`: The content is invalid. `details` lists all faults.
         *
         *     `idempotency_key_reused`: The key was used for a different request.
         */
        ValidationFailedOrIdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "validation_failed" | "idempotency_key_reused";
                };
            };
        };
        /** @description `sync_in_progress`: Another import of this player's scores is in progress. */
        SyncInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /** @description Whole seconds to wait before retrying. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "sync_in_progress";
                };
            };
        };
        /**
         * @description `validation_failed`: The content is invalid. `details` lists all faults.
         *
         *     `source_credential_rejected`: The score service rejected the player's credential.
         */
        ValidationFailedOrSourceCredentialRejected: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "validation_failed" | "source_credential_rejected";
                };
            };
        };
        /**
         * @description `source_unreachable`: The score service cannot be reached.
         *
         *     `source_bad_response`: The response of the score service is invalid.
         *
         *     `source_error`: The score service failed.
         *
         *     `source_rate_limited`: The score service is rate limiting.
         */
        SourceUnreachableOrSourceBadResponseOrSourceErrorOrSourceRateLimited: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /** @description Whole seconds to wait before retrying. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "source_unreachable" | "source_bad_response" | "source_error" | "source_rate_limited";
                };
            };
        };
        /** @description `source_timeout`: The score service did not answer in time. */
        SourceTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "source_timeout";
                };
            };
        };
        /**
         * @description `validation_failed`: The content is invalid. `details` lists all faults.
         *
         *     `source_credential_rejected`: The score service rejected the player's credential.
         *
         *     `source_privacy`: The player's privacy settings hide the scores.
         */
        ValidationFailedOrSourceCredentialRejectedOrSourcePrivacy: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "validation_failed" | "source_credential_rejected" | "source_privacy";
                };
            };
        };
        /**
         * @description `forbidden`: The caller may not do this.
         *
         *     `user_disabled`: The account is disabled. Its credentials are valid, and will work again when it is enabled.
         */
        ForbiddenOrUserDisabled: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "forbidden" | "user_disabled";
                };
            };
        };
        /** @description `precondition_failed`: The document has changed. Read it again. */
        PreconditionFailed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                /** @description The document's version and revision, for `If-Match`. */
                ETag?: string;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "precondition_failed";
                };
            };
        };
        /** @description `precondition_required`: `If-Match` is missing. */
        PreconditionRequired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"] & {
                    /** @enum {string} */
                    error: "precondition_required";
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
        /** @description The remaining quota: `r` tokens for `t` more seconds. In a 429, only the windows that refuse. */
        RateLimit: string;
        /** @description The windows that apply: `q` tokens in `w` seconds. */
        "RateLimit-Policy": string;
        /** @description The required credential. */
        "WWW-Authenticate": string;
        /** @description When the window that refuses ends, ISO 8601 UTC. */
        "X-Quota-Reset": string;
        /** @description `true`: the stored response to an earlier request with this key. Nothing was repeated. */
        "Idempotency-Replayed": string;
        /** @description The document's version and revision, for `If-Match`. */
        ETag: string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    health: {
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
                    "application/json": components["schemas"]["HealthAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["OverloadedOrShuttingDown"];
        };
    };
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
    upsertMusic: {
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
                 *       "musicList": [
                 *         {
                 *           "musicId": 10106,
                 *           "level": 3,
                 *           "achievement": 100.5,
                 *           "dxScore": 2871,
                 *           "comboStatus": "fc"
                 *         }
                 *       ]
                 *     }
                 */
                "application/json": components["schemas"]["UpsertMusicBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpsertMusicAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["ConflictOrSessionExpired"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailedOrUnknownChartOrDxScoreTooHigh"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    deleteMusic: {
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
                 *       "musicId": 101,
                 *       "level": 3
                 *     }
                 */
                "application/json": components["schemas"]["DeleteMusicBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeleteMusicAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            404: components["responses"]["ScoreNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    readMusic: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ReadMusicBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadMusicAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    clearMusic: {
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
                 *       "confirm": true
                 *     }
                 */
                "application/json": components["schemas"]["ClearMusicBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClearMusicAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    createUploadSession: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["CreateUploadSessionBody"];
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
                    "application/json": components["schemas"]["CreateUploadSessionAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    checkUploadSession: {
        parameters: {
            query?: {
                /** @description Clients may send it. The response always waits. */
                sync?: "0" | "1";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "sessionId": "3b17827f-ce92-497f-8624-a8eb28cc72b4"
                 *     }
                 */
                "application/json": components["schemas"]["CheckUploadSessionBody"];
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
                    "application/json": components["schemas"]["CheckUploadSessionAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["ConflictOrSessionExpired"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    readUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ReadUserBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadUserAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    previewUser: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["PreviewUserBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewUserAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    listRegions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ListRegionsBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListRegionsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    buyTicket: {
        parameters: {
            query?: never;
            header?: {
                /** @description Identifies this attempt. A repeat with the same key gets the same response, and nothing is done twice. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "chargeId": 2
                 *     }
                 */
                "application/json": components["schemas"]["BuyTicketBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Idempotency-Replayed": components["headers"]["Idempotency-Replayed"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BuyTicketAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabledOrInsufficientBalance"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailedOrIdempotencyKeyReused"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    readTickets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ReadTicketsBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadTicketsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    clearTickets: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ClearTicketsBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClearTicketsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    listChargeQueue: {
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
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListChargeQueueAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    readItems: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ReadItemsBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadItemsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    readGates: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                /** @example {} */
                "application/json": components["schemas"]["ReadGatesBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadGatesAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    updateLx: {
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
                 *       "key": "<LXNS_TOKEN>"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateLxBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateLxAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            409: components["responses"]["SyncInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailedOrSourceCredentialRejected"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SourceUnreachableOrSourceBadResponseOrSourceErrorOrSourceRateLimited"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
            504: components["responses"]["SourceTimeout"];
        };
    };
    updateFish: {
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
                 *       "token": "<IMPORT_TOKEN>"
                 *     }
                 */
                "application/json": components["schemas"]["UpdateFishBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateFishAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            409: components["responses"]["SyncInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailedOrSourceCredentialRejectedOrSourcePrivacy"];
            429: components["responses"]["QuotaExceeded"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SourceUnreachableOrSourceBadResponseOrSourceErrorOrSourceRateLimited"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
            504: components["responses"]["SourceTimeout"];
        };
    };
    ownUsage: {
        parameters: {
            query?: {
                /** @description `nextCursor` of the previous page. */
                cursor?: string;
                /** @description The largest number of requests on the page. */
                limit?: number;
            };
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
                    "application/json": components["schemas"]["OwnUsageAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    ownUsageStats: {
        parameters: {
            query?: {
                /** @description How many days, including today. */
                days?: number;
            };
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
                    "application/json": components["schemas"]["OwnUsageStatsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    quotaStatus: {
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
                    "application/json": components["schemas"]["QuotaStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    quotaStatusAlias: {
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
                    "application/json": components["schemas"]["QuotaStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["UserDisabled"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    readSettings: {
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
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadSettingsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    replaceSettings: {
        parameters: {
            query?: never;
            header: {
                /** @description The `ETag` of the document that you read; `*`: any. A version without revision, `"7"`, matches any document with it. */
                "If-Match": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "mode": "normal",
                 *       "base": {
                 *         "personal": {
                 *           "read": {
                 *             "1h": 120,
                 *             "5h": 400,
                 *             "1d": 1200
                 *           },
                 *           "write": {
                 *             "1h": 60,
                 *             "5h": 200,
                 *             "1d": 600
                 *           }
                 *         },
                 *         "site": {
                 *           "read": {
                 *             "1h": 3000,
                 *             "5h": 10000,
                 *             "1d": 36000
                 *           },
                 *           "write": {
                 *             "1h": 1500,
                 *             "5h": 5000,
                 *             "1d": 18000
                 *           }
                 *         }
                 *       },
                 *       "custom": null,
                 *       "site": {
                 *         "enabled": true,
                 *         "multiplier": 1
                 *       },
                 *       "prices": {}
                 *     }
                 */
                "application/json": components["schemas"]["ReplaceSettingsBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplaceSettingsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            428: components["responses"]["PreconditionRequired"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    readUserQuota: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserQuota"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    replaceUserQuota: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the document that you read; `*`: any. A version without revision, `"7"`, matches any document with it. */
                "If-Match"?: string;
            };
            path: {
                /** @description The user's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "overrides": {
                 *         "write": {
                 *           "1h": 120
                 *         }
                 *       }
                 *     }
                 */
                "application/json": components["schemas"]["ReplaceUserQuotaBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplaceUserQuotaAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    userQuotaStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user's id. */
                id: string;
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
                    "application/json": components["schemas"]["QuotaStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    resetUserQuota: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "category": "write"
                 *     }
                 */
                "application/json": components["schemas"]["ResetUserQuotaBody"];
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
                    "application/json": components["schemas"]["QuotaStatus"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    listHolds: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user's id. */
                id: string;
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
                    "application/json": components["schemas"]["ListHoldsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    releaseHold: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The user's id. */
                id: string;
                /** @description As in the list. */
                ref: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. The response has no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description The beginning of an id or a name, in any case, or a score sync account. */
                query?: string;
                /** @description By id, or highest first by today's `tokens` or `refusals` (Beijing time), or by `lastSeen`. */
                sort?: "id" | "tokens" | "refusals" | "lastSeen";
                /** @description `nextCursor` of the previous page, with the same `sort`. */
                cursor?: string;
                /** @description The largest number of entries on the page. */
                limit?: number;
            };
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
                    "application/json": components["schemas"]["ListUsersAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    findUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A user's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FindUserAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    putUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the document that you read; `*`: any. A version without revision, `"7"`, matches any document with it. */
                "If-Match"?: string;
                /** @description `*`: creates a new document, and never changes an existing one. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description A user's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "name": "Demo"
                 *     }
                 */
                "application/json": components["schemas"]["PutUserBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PutUserAnswer"];
                };
            };
            /** @description Created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PutUserAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    deleteUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description The `ETag` of the document that you read; `*`: any. A version without revision, `"7"`, matches any document with it. */
                "If-Match"?: string;
            };
            path: {
                /** @description A user's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. The response has no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    changeBalance: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A user's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "add": 5
                 *     }
                 */
                "application/json": components["schemas"]["ChangeBalanceBody"];
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
                    "application/json": components["schemas"]["ChangeBalanceAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            412: components["responses"]["PreconditionFailed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    listTokens: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A user's id. */
                id: string;
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
                    "application/json": components["schemas"]["ListTokensAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    issueToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A user's id. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "label": "nightly"
                 *     }
                 */
                "application/json": components["schemas"]["IssueTokenBody"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssueTokenAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    rotateToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A user's id. */
                id: string;
                /** @description The token's id, not the token itself. */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "graceSeconds": 86400
                 *     }
                 */
                "application/json": components["schemas"]["RotateTokenBody"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotateTokenAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description A user's id. */
                id: string;
                /** @description The token's id, not the token itself. */
                tokenId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. The response has no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    listBots: {
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
                    "application/json": components["schemas"]["ListBotsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    issueBot: {
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
                 *       "name": "nightly"
                 *     }
                 */
                "application/json": components["schemas"]["IssueBotBody"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssueBotAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    rotateBot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The credential's id, not the credential itself. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "graceSeconds": 86400
                 *     }
                 */
                "application/json": components["schemas"]["RotateBotBody"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotateBotAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    revokeBot: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The credential's id, not the credential itself. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. The response has no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    listChartKeys: {
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
                    "application/json": components["schemas"]["ListChartKeysAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    issueChartKey: {
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
                 *       "name": "nightly"
                 *     }
                 */
                "application/json": components["schemas"]["IssueChartKeyBody"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssueChartKeyAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    rotateChartKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The credential's id, not the credential itself. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "graceSeconds": 86400
                 *     }
                 */
                "application/json": components["schemas"]["RotateChartKeyBody"];
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotateChartKeyAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            409: components["responses"]["Conflict"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    revokeChartKey: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The credential's id, not the credential itself. */
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. The response has no body. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description `nextCursor` of the previous page. */
                cursor?: string;
                /** @description The largest number of entries on the page. */
                limit?: number;
                /** @description Only entries of this kind. */
                action?: "settings.change" | "user-quota.change" | "quota.reset" | "hold.release" | "user.create" | "user.change" | "user.delete" | "balance.change" | "token.issue" | "token.rotate" | "token.revoke" | "bot.issue" | "bot.rotate" | "bot.revoke" | "chart-key.issue" | "chart-key.rotate" | "chart-key.revoke";
                /** @description Only entries of this user, or of the `command line`. */
                by?: string;
                /** @description Only entries about this id. */
                subject?: string;
            };
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
                    "application/json": components["schemas"]["ListAuditAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    adaptiveFactor: {
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
                    "application/json": components["schemas"]["AdaptiveFactorAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    latestRefusals: {
        parameters: {
            query?: {
                /** @description Only refusals of this user. */
                userId?: string;
            };
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
                    "application/json": components["schemas"]["LatestRefusalsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    failureRate: {
        parameters: {
            query?: {
                /** @description how many days back */
                days?: number;
                /** @description length of a bucket */
                bucketMinutes?: "5" | "10" | "15" | "30" | "60";
            };
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
                    "application/json": components["schemas"]["FailureRateAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    serverErrors: {
        parameters: {
            query?: {
                /** @description Default: a week ago. */
                since?: string;
                /** @description Default: now. */
                until?: string;
            };
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
                    "application/json": components["schemas"]["ServerErrorsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    overview: {
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
                    "application/json": components["schemas"]["Overview"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    requestHistory: {
        parameters: {
            query?: {
                /** @description how far back */
                range?: "24h" | "7d";
            };
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
                    "application/json": components["schemas"]["RequestHistoryAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    overviewEvents: {
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
                    "text/event-stream": components["schemas"]["OverviewEventsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
            409: components["responses"]["Conflict"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    metrics: {
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
                    "text/plain": components["schemas"]["MetricsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["ForbiddenOrUserDisabled"];
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
