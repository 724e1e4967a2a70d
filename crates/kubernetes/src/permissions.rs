//! The permissions of a run: exactly what the program requests, as a Role and as questions to the API server.

use serde_json::{Value, json};

/// A permission in the namespace.
#[derive(Clone, Copy, Debug)]
pub struct Permission {
    /// The API group; empty for the core.
    pub group: &'static str,
    /// The kind of objects.
    pub resource: &'static str,
    /// The actions on them.
    pub verbs: &'static [&'static str],
    /// The purpose, for people.
    pub purpose: &'static str,
    /// Whether no run is possible without it.
    pub is_needed: bool,
}

/// The permissions of a run.
pub const PERMISSIONS: &[Permission] = &[
    Permission {
        group: "batch",
        resource: "jobs",
        verbs: &["create", "get", "delete"],
        purpose: "start, watch and remove agents",
        is_needed: true,
    },
    Permission {
        group: "",
        resource: "secrets",
        verbs: &["create", "delete"],
        purpose: "hand agents their token",
        is_needed: true,
    },
    Permission {
        group: "",
        resource: "pods",
        verbs: &["list"],
        purpose: "see the state of agents",
        is_needed: true,
    },
    Permission {
        group: "",
        resource: "events",
        verbs: &["list"],
        purpose: "name what keeps agents from starting",
        is_needed: false,
    },
    Permission {
        group: "",
        resource: "resourcequotas",
        verbs: &["list"],
        purpose: "compare the quota with the plan (doctor only)",
        is_needed: false,
    },
];

/// The holder of the permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A user, as the cluster's authentication names it.
    User(String),
    /// A service account of the namespace, for a hub that runs in a pod.
    ServiceAccount(String),
}

/// The Role and its RoleBinding, and before them the service account if it is the holder.
pub fn role(namespace: &str, subject: &Subject) -> Vec<(&'static str, Value)> {
    let rule =
        |it: &Permission| json!({"apiGroups": [it.group], "resources": [it.resource], "verbs": it.verbs});
    let rules: Vec<Value> = PERMISSIONS.iter().map(rule).collect();
    let metadata = json!({"name": "plimsoll", "namespace": namespace});
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata,
        "rules": rules,
    });
    let (account, holder) = match subject {
        Subject::User(name) => {
            (None, json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}))
        }
        Subject::ServiceAccount(name) => {
            let account_metadata = json!({"name": name, "namespace": namespace});
            let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account_metadata});
            (Some(account), json!({"kind": "ServiceAccount", "name": name, "namespace": namespace}))
        }
    };
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "plimsoll"},
        "subjects": [holder],
    });
    let account = account.map(|account| ("The account of a pod that runs the hub.", account));
    let role =
        ("The least permissions of `plimsoll run --kubernetes` and `plimsoll doctor --kubernetes`.", role);
    account.into_iter().chain([role, ("Grants them.", binding)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_grants_what_is_requested_and_no_more() {
        let documents = role("load", &Subject::User("ann".to_owned()));
        let rules = documents[0].1["rules"].as_array().expect("rules");
        let text = serde_json::to_string(rules).expect("JSON");
        assert!(
            rules.len() == PERMISSIONS.len() && !text.contains('*') && !text.contains("update"),
            "{text}"
        );
        assert_eq!(documents[1].1["subjects"][0]["name"], "ann");
        let documents = role("load", &Subject::ServiceAccount("hub".to_owned()));
        assert_eq!(documents[0].1["kind"], "ServiceAccount");
        assert_eq!(documents[2].1["subjects"][0]["kind"], "ServiceAccount");
    }
}
