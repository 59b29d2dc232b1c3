/** Requests and the answers of a real service. Made by npm run examples; not edited by hand. */

import type { OperationExample } from "./operation.ts";
import type { OperationId } from "./operations.ts";

export const OPERATION_EXAMPLES: Readonly<Record<OperationId, OperationExample>> = {
  "encode": {
    "body": {
      "user_id": "ada",
      "label": "TASK.deadline",
      "value": "2026-12-01"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "channel": 23,
      "channel_count": 1
    }
  },
  "encodeBatch": {
    "body": {
      "user_id": "ada",
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace"
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01"
        }
      ]
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 2,
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace",
          "channel": 0
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23
        }
      ]
    }
  },
  "context": {
    "query": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "fdm_block": "[MEM] fonts upgrade formulation bones … massage [/MEM]",
      "channel_count": 2,
      "channel_labels": [
        "USER.name",
        "TASK.deadline"
      ],
      "plain_index": "USER.name=Ada Lovelace\nTASK.deadline=2026-12-01"
    }
  },
  "decode": {
    "query": {
      "user_id": "ada",
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "source": "state",
      "latency_ms": 0
    }
  },
  "decodeModel": {
    "query": {
      "user_id": "ada",
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "source": "model",
      "latency_ms": 34,
      "verified": true
    }
  },
  "flush": {
    "body": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 2,
      "lossless": true,
      "fdm_block": "[MEM] fonts upgrade formulation bones … massage [/MEM]",
      "overflow": []
    }
  },
  "read": {
    "body": {
      "user_id": "ada",
      "block": "[MEM] fonts upgrade formulation bones … massage [/MEM]"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "user_id": "ada",
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace",
          "channel": 0
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23
        }
      ],
      "missing": 0,
      "wrong": 0,
      "repaired": 0,
      "guard_left": 495
    }
  },
  "facts": {
    "query": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "channel_count": 2,
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace",
          "channel": 0,
          "revision": 2,
          "updated_at": "2026-11-16T07:17:49.450Z"
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23,
          "revision": 3,
          "updated_at": "2026-11-16T07:17:49.450Z"
        }
      ]
    }
  },
  "forgetFact": {
    "query": {
      "user_id": "ada",
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 1
    }
  },
  "forgetUser": {
    "query": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": {
      "status": "ok"
    }
  },
  "usage": {
    "status": 200,
    "answer": {
      "account": "acme",
      "tier": "pro",
      "limit": 50000,
      "used": 3,
      "remaining": 49997,
      "resets_at": "2026-12-01T00:00:00.000Z"
    }
  },
  "usageDays": {
    "status": 200,
    "answer": {
      "from": "2026-10-17",
      "to": "2026-11-16",
      "days": [
        {
          "day": "2026-11-16",
          "count": 3
        }
      ]
    }
  },
  "demoEncode": {
    "body": {
      "label": "TASK.deadline",
      "value": "2026-12-01"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "channel": 23,
      "channel_count": 1
    }
  },
  "demoContext": {
    "status": 200,
    "answer": {
      "user_id": "demo",
      "fdm_block": "[MEM] lis varieties travelers Venezuela … deadline [/MEM]",
      "channel_count": 1,
      "channel_labels": [
        "TASK.deadline"
      ],
      "plain_index": "TASK.deadline=2026-12-01"
    }
  },
  "demoDecode": {
    "query": {
      "label": "TASK.deadline",
      "use_model": "true"
    },
    "status": 200,
    "answer": {
      "user_id": "demo",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "source": "model",
      "latency_ms": 16,
      "verified": true
    }
  },
  "demoFlush": {
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 1,
      "lossless": true,
      "fdm_block": "[MEM] lis varieties travelers Venezuela … deadline [/MEM]",
      "overflow": []
    }
  },
  "demoRead": {
    "body": {
      "block": "[MEM] lis varieties travelers Venezuela … deadline [/MEM]"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "user_id": "demo",
      "facts": [
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23
        }
      ],
      "missing": 0,
      "wrong": 0,
      "repaired": 0,
      "guard_left": 497
    }
  },
  "demoKey": {
    "status": 200,
    "answer": {
      "user_id": "demo",
      "keys": [
        {
          "key_id": 1,
          "material": "…"
        }
      ],
      "versions": [
        7,
        1
      ]
    }
  },
  "demoForget": {
    "query": {
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 0
    }
  },
  "demoReset": {
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 0
    }
  },
  "channels": {
    "status": 200,
    "answer": {
      "channels": [
        {
          "channel": 0,
          "label": "USER.name",
          "description": "What the user is called",
          "example": "Ada Okafor"
        },
        {
          "channel": 1,
          "label": "USER.project",
          "description": "The project the user works on",
          "example": "Sideband"
        },
        {
          "channel": 2,
          "label": "USER.affiliation",
          "description": "Company, university or team",
          "example": "Delft University of Technology"
        }
      ]
    }
  },
  "openapi": {
    "status": 200,
    "answer": {
      "openapi": "3.1.0",
      "info": {
        "title": "Sideband",
        "version": "0.1.0",
        "summary": "Persistent fact memory for AI agents",
        "description": "Facts are written by label onto 40 channels per user and handed back one by one, or all together as one sealed block of 512 tokens. Every path also exists under /v1."
      }
    }
  },
  "health": {
    "status": 200,
    "answer": {
      "status": "ok"
    }
  },
  "ready": {
    "status": 200,
    "answer": {
      "status": "ready"
    }
  },
  "metrics": {
    "status": 200,
    "answer": "# HELP sideband_commit_size Writes in one group commit.\n# TYPE sideband_commit_size histogram\n…"
  },
  "adminCreateKey": {
    "body": {
      "account": "navy",
      "tier": "pro",
      "note": "Grace"
    },
    "status": 201,
    "answer": {
      "key": "sb_live_…",
      "id": "d8cb1cf5f5c547db",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "created_at": "2026-11-16T07:17:49.894Z",
      "expires_at": null,
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminKeys": {
    "query": {
      "account": "navy"
    },
    "status": 200,
    "answer": {
      "keys": [
        {
          "id": "d8cb1cf5f5c547db",
          "account": "navy",
          "tier": "pro",
          "prefix": "sb_live_…",
          "note": "Grace",
          "created_at": "2026-11-16T07:17:49.894Z",
          "expires_at": null,
          "revoked_at": null,
          "last_used_at": null
        }
      ]
    }
  },
  "adminExpireKey": {
    "params": {
      "id": "d8cb1cf5f5c547db"
    },
    "body": {
      "expires_at": "2027-01-31T23:59:59.000Z"
    },
    "status": 200,
    "answer": {
      "id": "d8cb1cf5f5c547db",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "created_at": "2026-11-16T07:17:49.894Z",
      "expires_at": "2027-01-31T23:59:59.000Z",
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminRevokeKey": {
    "params": {
      "id": "d8cb1cf5f5c547db"
    },
    "status": 200,
    "answer": {
      "id": "d8cb1cf5f5c547db",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "created_at": "2026-11-16T07:17:49.894Z",
      "expires_at": "2027-01-31T23:59:59.000Z",
      "revoked_at": "2026-11-16T07:17:49.920Z",
      "last_used_at": null
    }
  },
  "adminAccounts": {
    "status": 200,
    "answer": {
      "accounts": [
        {
          "account": "acme",
          "created_at": "2026-11-16T07:17:49.310Z",
          "keys": 1
        },
        {
          "account": "navy",
          "created_at": "2026-11-16T07:17:49.894Z",
          "keys": 1
        }
      ]
    }
  },
  "adminUsage": {
    "status": 200,
    "answer": {
      "from": "2026-10-17",
      "to": "2026-11-16",
      "keys": [
        {
          "key_id": "303e4a31d54c473f",
          "account": "acme",
          "tier": "pro",
          "limit": 50000,
          "used_this_month": 3,
          "days": [
            {
              "day": "2026-11-16",
              "count": 3
            }
          ]
        },
        {
          "key_id": "d8cb1cf5f5c547db",
          "account": "navy",
          "tier": "pro",
          "limit": 50000,
          "used_this_month": 0,
          "days": []
        }
      ]
    }
  },
  "requestKey": {
    "body": {
      "name": "Grace Hopper",
      "email": "grace@navy.example",
      "purpose": "An assistant that remembers."
    },
    "status": 202,
    "answer": {
      "status": "received"
    }
  },
  "adminKeyRequests": {
    "status": 200,
    "answer": {
      "requests": [
        {
          "id": "bac9b0849d33406c",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "approved",
          "created_at": "2026-11-16T07:17:49.942Z",
          "decided_at": "2026-11-16T07:17:49.955Z",
          "key_id": "86e49405d7c8401f"
        },
        {
          "id": "eb4239ed45514ee1",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "declined",
          "created_at": "2026-11-16T07:17:49.969Z",
          "decided_at": "2026-11-16T07:17:49.989Z",
          "key_id": null
        },
        {
          "id": "2c9cf2cbbfdd454f",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "open",
          "created_at": "2026-11-16T07:17:50.001Z",
          "decided_at": null,
          "key_id": null
        }
      ]
    }
  },
  "adminApprove": {
    "params": {
      "id": "bac9b0849d33406c"
    },
    "body": {
      "account": "hopper"
    },
    "status": 201,
    "answer": {
      "key": "sb_live_…",
      "id": "86e49405d7c8401f",
      "account": "hopper",
      "tier": "free",
      "prefix": "sb_live_…",
      "note": "Grace Hopper <grace@navy.example>",
      "created_at": "2026-11-16T07:17:49.955Z",
      "expires_at": null,
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminDecline": {
    "params": {
      "id": "eb4239ed45514ee1"
    },
    "status": 200,
    "answer": {
      "id": "eb4239ed45514ee1",
      "name": "Grace Hopper",
      "email": "grace@navy.example",
      "purpose": "An assistant that remembers.",
      "tier": "free",
      "status": "declined",
      "created_at": "2026-11-16T07:17:49.969Z",
      "decided_at": "2026-11-16T07:17:49.989Z",
      "key_id": null
    }
  },
  "adminDeleteRequest": {
    "params": {
      "id": "2c9cf2cbbfdd454f"
    },
    "status": 200,
    "answer": {
      "status": "ok"
    }
  },
  "adminStatus": {
    "status": 200,
    "answer": {
      "version": "0.1.0",
      "process_id": 4383,
      "started_at": "2026-11-16T07:17:49.294Z",
      "ready": true,
      "store": {
        "facts": 0,
        "users": 0,
        "size_bytes": 77824
      },
      "demo": {
        "labels": [],
        "resets_in_s": 730
      },
      "recent_errors": [],
      "recent_requests": [
        {
          "at": "2026-11-16T07:17:49.749Z",
          "method": "GET",
          "route": "/usage/days",
          "status": 200,
          "account": "acme",
          "key_id": "303e4a31d54c473f",
          "request_id": "YpkR9gN6-c"
        },
        {
          "at": "2026-11-16T07:17:49.746Z",
          "method": "GET",
          "route": "/usage",
          "status": 200,
          "account": "acme",
          "key_id": "303e4a31d54c473f",
          "request_id": "YpkR9gN6-b"
        },
        {
          "at": "2026-11-16T07:17:49.742Z",
          "method": "DELETE",
          "route": "/users",
          "status": 200,
          "account": "acme",
          "key_id": "303e4a31d54c473f",
          "request_id": "YpkR9gN6-a"
        }
      ]
    }
  }
};
